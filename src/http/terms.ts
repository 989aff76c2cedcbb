import type { FastifyRequest } from "fastify";

import type { Endpoint } from "../contract/endpoint.ts";
import { type Encoding, encodings } from "../lib/compress.ts";

/** How an answer may go out to a request. */
export interface Terms {
  /** Whether it may be compressed for those who take it. */
  isCompressible: boolean;
  /** How this caller wants it; undefined: as it is. */
  encoding: Encoding | undefined;
  /** Whether the caller may keep it and ask whether it is still the same. */
  isKept: boolean;
  /** Headers by which it is chosen what is sent. */
  vary: string;
}

/** Types of answers that compress well. Files are sent as they were uploaded, archives and documents are compressed already. */
const compressibleType = /^(?:application\/json|text\/csv)\b/;

/** Reads one part of Accept-Encoding: `gzip;q=0.5`. */
function acceptedPart(part: string): [name: string, quality: number] {
  const [name = "", ...parameters] = part.split(";");
  const quality = parameters
    .map((text) => /^\s*q=([\d.]+)\s*$/i.exec(text)?.[1])
    .find((text) => text !== undefined);
  return [name.trim().toLowerCase(), quality === undefined ? 1 : Number(quality)];
}

/**
 * Chooses how to compress for a client (RFC 9110 section 12.5.3): what it likes best, of equals what is smallest. Undefined
 * when it takes none of ours or does not say, and when it likes it better as it is.
 */
export function chooseEncoding(accepted: string | string[] | undefined): Encoding | undefined {
  if (accepted === undefined || accepted.length === 0) return undefined;
  const parts = new Map(String(accepted).split(",", 20).map(acceptedPart));
  const qualityOf = (name: string): number => parts.get(name) ?? parts.get("*") ?? 0;
  const best = encodings.reduce((a, b) => (qualityOf(b) > qualityOf(a) ? b : a));
  const asItIs = parts.get("identity") ?? 0;
  return qualityOf(best) > 0 && qualityOf(best) >= asItIs ? best : undefined;
}

/** Says whether a caller can make use of an answer's tag: a page, a session, or who has one already. */
function keepsAnswers({ headers, caller }: FastifyRequest): boolean {
  return (
    headers["if-none-match"] !== undefined ||
    headers["sec-fetch-dest"] !== undefined ||
    (caller?.principal?.session_id ?? null) !== null
  );
}

/**
 * Finds how answers of an endpoint may go out to a request. Secrets are neither compressed, because lengths would tell of them
 * where callers choose a part of the answer, nor kept. Keys are shown by what makes them, so only what records nothing is
 * compressed at all.
 */
export function termsOf(request: FastifyRequest, endpoint: Endpoint, contentType: string): Terms {
  const isRead = endpoint.method === "GET";
  const isOpen = endpoint.showsSecret !== true;
  const isCompressible =
    isOpen && (isRead || endpoint.recordsNothing === true) && compressibleType.test(contentType);
  return {
    isCompressible,
    encoding: isCompressible ? chooseEncoding(request.headers["accept-encoding"]) : undefined,
    vary: endpoint.responses[200]?.csv === undefined ? "Accept-Encoding" : "Accept, Accept-Encoding",
    isKept: isOpen && isRead && contentType.startsWith("application/json") && keepsAnswers(request),
  };
}
