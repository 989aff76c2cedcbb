import { createHash } from "node:crypto";

import type { FastifyReply, FastifyRequest } from "fastify";

import type { AnswerForms } from "./kept-answers.ts";
import { type Compression, shortestCompressed } from "./compression.ts";
import { ownerOf } from "./owner.ts";
import type { Terms } from "./terms.ts";

/** How an answer begins. */
export interface AnswerHead {
  status: number;
  headers: Record<string, string>;
  terms: Terms;
  /** What its tag is made of, where that is not the body. */
  version?: string | undefined;
  /** What was made of the body before, where it is kept. */
  forms?: AnswerForms | undefined;
}

/**
 * Makes the tag of an answer: the same for the same body and headers. A weak one (RFC 9110 section 8.8.1), because it is the same
 * however the answer is compressed.
 */
function tagOf(headers: Record<string, string>, body: string | Buffer): string {
  const digest = createHash("sha256").update(JSON.stringify(headers)).update("\n").update(body).digest();
  return `W/"${digest.subarray(0, 16).toString("base64url")}"`;
}

/** Says whether a caller has what this tag stands for already (RFC 9110 section 13.1.2). */
function hasTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = tag.replace(/^W\//, "");
  return ifNoneMatch.trim() === "*" || (ifNoneMatch.match(/"[^"]*"/g)?.includes(opaque) ?? false);
}

/** Tags an answer if the caller may keep it. @returns whether the caller has it already. */
export function tagAnswer(
  { headers: asked }: FastifyRequest,
  reply: FastifyReply,
  { status, headers, terms, forms }: AnswerHead,
  text: string | Buffer,
): boolean {
  if (!terms.isKept || status !== 200) return false;
  const tag = forms?.tag ?? tagOf(headers, text);
  if (forms !== undefined) forms.tag = tag;
  reply.headers({
    etag: tag,
    "cache-control": "private, no-cache",
    vary: `${terms.vary}, Authorization, Cookie`,
  });
  return hasTag(asked["if-none-match"], tag);
}

/** Sends answers that are in memory as a whole: tagged, compressed, or only that they have not changed. */
export class WholeSender {
  readonly #compression: Compression;

  constructor(compression: Compression) {
    this.#compression = compression;
  }

  /** @param done called when the bytes of `body` are not looked at any more; not for an answer that breaks off. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    head: AnswerHead,
    body: string | Buffer,
    done?: () => void,
  ): FastifyReply | Promise<FastifyReply> {
    const { status, headers, terms, version, forms } = head;
    reply.code(status).headers(headers);
    if (tagAnswer(request, reply, head, version ?? body)) return sendUnchanged(request, reply, body, done);
    const isLong = Buffer.byteLength(body) >= shortestCompressed;
    if (!terms.isCompressible || !isLong) return sendPlain(reply, body, done);
    if (!reply.hasHeader("vary")) reply.header("vary", terms.vary);
    if (terms.encoding === undefined) return sendPlain(reply, body, done);
    return this.#sendCompressed(request, reply, { encoding: terms.encoding, forms, body, done });
  }

  async #sendCompressed(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      encoding,
      forms,
      body,
      done,
    }: {
      encoding: NonNullable<Terms["encoding"]>;
      forms: AnswerForms | undefined;
      body: string | Buffer;
      done: (() => void) | undefined;
    },
  ): Promise<FastifyReply> {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const compressed =
      forms?.compressed(encoding) ?? (await this.#compression.whole(ownerOf(request), encoding, bytes));
    if (compressed === undefined) return sendPlain(reply, bytes, done);
    forms?.remember(encoding, compressed);
    done?.();
    return reply.header("content-encoding", encoding).send(compressed);
  }
}

function sendPlain(reply: FastifyReply, body: string | Buffer, done: (() => void) | undefined): FastifyReply {
  // Handed over to the kernel. Of an answer that breaks off before, nobody knows who still looks at its bytes.
  if (done !== undefined) reply.raw.once("finish", done);
  return reply.send(body);
}

function sendUnchanged(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
  done: (() => void) | undefined,
): FastifyReply {
  reply.code(304);
  // Of a body that is left out anyway only the length is sent.
  if (request.method === "HEAD") return sendPlain(reply, body, done);
  done?.();
  return reply.removeHeader("content-type").send();
}
