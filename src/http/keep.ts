import type { FastifyRequest } from "fastify";

import { type Endpoint, JsonPieces, JsonText, type Piece, type Reply } from "../contract/endpoint.ts";
import { ByteWriter } from "../lib/byte-writer.ts";
import { isWide } from "../lib/wide-json.ts";
import { AnswerForms, KeptAnswer, type KeptAnswers } from "./kept-answers.ts";

export const jsonType = "application/json; charset=utf-8";

/** Text that is longer is sent piece by piece, and kept only where it has a version. In bytes, about. */
export const longText = 256 * 1024;

/**
 * Names what was asked for: all that the handler of such an endpoint is told, and nothing else (see `KeptCall`). How the organization is called follows from
 * the address.
 */
function keyOf(request: FastifyRequest): string {
  const org = request.caller?.org;
  return `${org?.id} ${org?.role} ${org?.kind} ${org?.public} ${request.url}`;
}

/** Names the body of an answer that has a version, whatever it is. */
function versionKey(key: string): string {
  return `version ${key}`;
}

/** Copies bytes to memory of their own: what others share is held as a whole. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Writes a body, or a piece of it, as bytes. */
function writtenOut(body: Piece | JsonText): Buffer {
  if (Buffer.isBuffer(body)) return copyOf(body);
  const writer = new ByteWriter(body.length);
  if (typeof body === "string") writer.text(body);
  else body.writeTo(writer);
  const bytes = copyOf(writer.result());
  writer.release();
  return bytes;
}

/** Makes what is kept of a reply; undefined for a failure, and for what is sent in pieces and has no version. */
function keptOf({ status, headers = {}, body }: Reply<Endpoint>): KeptAnswer | undefined {
  if (status !== 200) return undefined;
  if (body instanceof JsonPieces)
    return body.version === undefined ? undefined : new KeptAnswer({ headers, version: body.version });
  if (body instanceof JsonText ? body.length > longText : isWide(body)) return undefined;
  const bytes = writtenOut(body instanceof JsonText ? body : JSON.stringify(body));
  return new KeptAnswer({
    headers: { "content-type": jsonType, ...headers },
    body: bytes,
    forms: new AnswerForms(bytes.length),
  });
}

/** Gives answers again while nothing has been written since they were made. */
export class AnswerKeeper {
  readonly #kept: KeptAnswers;
  /** Answers that are being made, by what was asked and the state of the database. */
  readonly #making = new Map<string, Promise<KeptAnswer | undefined>>();

  constructor(kept: KeptAnswers) {
    this.#kept = kept;
  }

  /**
   * Finds the answer to a request, or has it made: once for all who ask for the same in the same state of the database. That is the state in which this
   * caller was found, after the request had come: so the answer has all that was written before.
   * @param make answers the request. @throws whatever it throws.
   */
  async answer(
    request: FastifyRequest,
    make: () => Promise<Reply<Endpoint>>,
  ): Promise<KeptAnswer | Reply<Endpoint>> {
    const state = request.caller?.state;
    if (state === undefined || this.#kept.largest === 0) return make();
    const key = keyOf(request);
    const found = this.#given(key, this.#kept.find(key, state));
    if (found !== undefined) return found;
    const making = `${state} ${key}`;
    const pending = this.#making.get(making);
    const shared = pending === undefined ? undefined : this.#given(key, await pending);
    return shared ?? this.#make({ key, state, making }, make);
  }

  /** Puts the body to an answer that has a version; undefined when it is not kept. */
  #given(key: string, answer: KeptAnswer | undefined): KeptAnswer | Reply<Endpoint> | undefined {
    if (answer?.version === undefined) return answer;
    const { headers, version } = answer;
    const body = this.#kept.find(versionKey(key), version)?.body;
    if (body === undefined) return undefined;
    // Whether an endpoint answers so was checked where its handler was written.
    return { status: 200, headers, body: new JsonPieces(slicesOf(body), version) as never };
  }

  async #make(
    { key, state, making }: { key: string; state: string; making: string },
    make: () => Promise<Reply<Endpoint>>,
  ): Promise<KeptAnswer | Reply<Endpoint>> {
    const begun = this.#kept.now();
    const reply = make();
    const kept = reply.then(keptOf);
    // Whoever waits for one that fails, or cannot be kept, makes an own one.
    const shared = kept.catch(() => undefined);
    this.#making.set(making, shared);
    try {
      const answer = await kept;
      if (answer !== undefined) this.#kept.keep(key, state, answer, begun);
      return answer === undefined || answer.version !== undefined ? await reply : answer;
    } finally {
      if (this.#making.get(making) === shared) this.#making.delete(making);
    }
  }

  /**
   * Gives the pieces of a long answer that has a version: those of the last one with the same version, or its own, which are kept when all of
   * them have been sent.
   */
  pieces(request: FastifyRequest, { version, pieces: made }: JsonPieces): AsyncIterable<Piece> {
    if (version === undefined || this.#kept.largest === 0) return made;
    const key = versionKey(keyOf(request));
    const found = this.#kept.find(key, version);
    if (found !== undefined) return slicesOf(found.body);
    return collected(made, this.#kept.largest, (body) =>
      this.#kept.keep(key, version, new KeptAnswer({ headers: {}, body, forms: undefined })),
    );
  }
}

/** Kept bytes are sent so many at a time. */
const sliceBytes = 512 * 1024;

async function* slicesOf(bytes: Buffer): AsyncGenerator<Piece> {
  for (let from = 0; from < bytes.length; from += sliceBytes) yield bytes.subarray(from, from + sliceBytes);
}

/** Passes pieces on, and at the end gives all of them at once, unless they have more bytes than `most`. */
async function* collected(
  pieces: AsyncIterable<Piece>,
  most: number,
  give: (bytes: Buffer) => void,
): AsyncGenerator<Piece> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces)
    if (length > most) yield piece;
    else {
      const bytes = writtenOut(piece);
      length += bytes.length;
      if (length <= most) parts.push(bytes);
      else parts = [];
      yield bytes;
    }
  if (length <= most) give(copyOf(Buffer.concat(parts)));
}
