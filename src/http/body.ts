import type { FastifyInstance, FastifyRequest } from "fastify";

import { AppError } from "../domain/errors.ts";
import { JsonError, parseJsonInTurns, type Places } from "../lib/json.ts";
import { sha256InTurns } from "../lib/hash-in-turns.ts";
import type { Summary, BodySummaries } from "./body-summaries.ts";
import { receiveBytes } from "./receive-bytes.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body as received, for digests and signatures; null until read, and for multipart. */
    rawBody: Buffer | null;
    /** SHA-256 of `rawBody`, where it was needed already. */
    bodyDigest: Buffer | null;
    /** What the body amounts to, when it came before. Then it is not read. */
    knownSummary: Summary | null;
  }
  interface FastifyContextConfig {
    /** The handler wants the bytes, not what they mean. */
    raw?: boolean;
    /** Bodies that need not be read again. */
    summaries?: BodySummaries | undefined;
    /** What of the body is kept as it was written. */
    exact?: Places | undefined;
  }
}

function isUtf8(contentType: string | undefined): boolean {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? "")?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Reads a JSON body. An empty one is undefined; clients send the text `null` where they have nothing to say. */
async function readJson(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  request.rawBody = bytes;
  if (request.routeOptions.config.raw === true) return bytes;
  if (!isUtf8(request.headers["content-type"]))
    throw new AppError("unsupported", "JSON must be encoded in UTF-8");
  const { summaries, exact } = request.routeOptions.config;
  if (summaries !== undefined) {
    request.bodyDigest = await sha256InTurns([bytes]);
    request.knownSummary = summaries.find(request.bodyDigest) ?? null;
    if (request.knownSummary !== null) return undefined;
  }
  await request.server.largeBodies.enter(request, bytes);
  try {
    return await parseBody(bytes, exact);
  } catch (error) {
    request.bodyIsRead?.();
    throw error;
  }
}

/** Makes the error for a body that is no JSON. */
export function notJson(error: JsonError): AppError {
  return new AppError("invalid", `Request body is not valid JSON: ${error.message}`);
}

function refuse(error: unknown): never {
  throw error instanceof JsonError ? notJson(error) : error;
}

/** Parses a JSON body, a large one a piece at a time. @throws AppError invalid for what is none. */
export function parseBody(bytes: Buffer, exact?: Places): Promise<unknown> {
  return parseJsonInTurns(bytes, exact).catch(refuse);
}

/** Teaches the server to read bodies: JSON everywhere, any type where an endpoint takes raw bytes. */
export function registerBodyParsers(app: FastifyInstance): void {
  app.decorateRequest("rawBody", null);
  app.decorateRequest("bodyDigest", null);
  app.decorateRequest("knownSummary", null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/(?:[\w.-]+\+)?json\b/i, async (request: FastifyRequest) =>
    readJson(request, await receiveBytes(request)),
  );
  app.addContentTypeParser("*", async (request: FastifyRequest) => {
    const body = await receiveBytes(request);
    request.rawBody = body;
    if (body.length === 0) return undefined;
    if (request.routeOptions.config.raw === true) return body;
    throw new AppError("unsupported", "Content type is not supported, send application/json");
  });
}
