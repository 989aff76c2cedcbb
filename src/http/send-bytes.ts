import type { FastifyReply, FastifyRequest } from "fastify";

import { type Endpoint, type JsonText, shortLength } from "../contract/endpoint.ts";
import { overloaded } from "../domain/errors.ts";
import { ByteWriter } from "../lib/byte-writer.ts";
import type { KeptAnswer } from "./kept-answers.ts";
import { ownerOf } from "./owner.ts";
import type { AnswerHead, WholeSender } from "./send-whole.ts";
import { termsOf } from "./terms.ts";
import { UnsentBytes } from "./unsent-bytes.ts";
import { whenGone } from "./when-gone.ts";

/** Sends answers that are in memory as bytes until their clients have got them, within limits of memory. */
export class ByteSender {
  readonly #whole: WholeSender;
  readonly #unsent = new UnsentBytes();

  constructor(whole: WholeSender) {
    this.#whole = whole;
  }

  /**
   * Sends a text, as bytes if it is long: those are outside of the heap, where they are never moved, and used again.
   * @throws AppError unavailable when too much is unsent.
   */
  text(request: FastifyRequest, reply: FastifyReply, head: AnswerHead, text: JsonText) {
    const short = text.short();
    if (short !== undefined) return this.#whole.send(request, reply, head, short);
    const giveBack = this.#take(request, text.length);
    const writer = new ByteWriter(text.length);
    text.writeTo(writer);
    whenGone(reply, giveBack);
    return this.#whole.send(request, reply, head, writer.result(), () => writer.release());
  }

  /**
   * Sends bytes that others get as well. They are counted for each, because they are in memory until all have got them.
   * @throws AppError unavailable when too much is unsent.
   */
  kept(request: FastifyRequest, reply: FastifyReply, answer: KeptAnswer, endpoint: Endpoint) {
    const { headers, body, forms } = answer;
    if (body.length > shortLength) whenGone(reply, this.#take(request, body.length));
    const terms = termsOf(request, endpoint, headers["content-type"] ?? "");
    return this.#whole.send(request, reply, { status: 200, headers, terms, forms }, body);
  }

  #take(request: FastifyRequest, bytes: number): () => void {
    const giveBack = this.#unsent.take(ownerOf(request), bytes);
    if (giveBack === undefined) throw overloaded();
    return giveBack;
  }
}
