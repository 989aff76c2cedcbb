import type { FastifyInstance, FastifyRequest } from "fastify";

import { AppError } from "../domain/errors.ts";
import { FairSlots, NoSlot, type SlotLimits } from "../lib/fair-slots.ts";
import { isLargeJson } from "../lib/json.ts";
import { ownerOf } from "./intake.ts";
import { whenGone } from "./when-gone.ts";

declare module "fastify" {
  interface FastifyInstance {
    largeBodies: LargeBodies;
  }
  interface FastifyRequest {
    /** Says that the body has been read and validated; null when nobody waits for that. */
    bodyIsRead: (() => void) | null;
  }
}

/** Bytes of a body that may become a hundred megabytes of values. */
const veryLarge = 1024 * 1024;

const waiting = { waiting: 4_000, waitMs: 30_000 };

/** How many are read at once. What one is made of takes up to 25 times as much memory as its text. */
const limits: Record<"large" | "veryLarge", SlotLimits> = {
  large: { total: 16, perOwner: 8, ...waiting },
  veryLarge: { total: 2, perOwner: 1, ...waiting },
};

const closed = (): AppError => new AppError("invalid", "The connection was closed");

/** Nobody tells once more that a connection was closed, so that nothing taken for it then would be given back. */
const hasGone = ({ raw }: FastifyRequest): boolean => raw.socket.destroyed;

/**
 * Bounds how many large bodies are read at once, until they have been validated: they take turns anyway, so more at once
 * would be done no sooner, and take more memory. Whose turn is next does not depend on who sends most.
 */
export class LargeBodies {
  readonly #large = new FairSlots(limits.large);
  readonly #veryLarge = new FairSlots(limits.veryLarge);

  /**
   * Waits until a body may be read, if it is large.
   * @throws AppError unavailable when too many others are being read, invalid when its sender has gone.
   */
  async enter(request: FastifyRequest, bytes: Buffer): Promise<void> {
    if (!isLargeJson(bytes)) return;
    const slots = bytes.length > veryLarge ? this.#veryLarge : this.#large;
    const gone = new AbortController();
    const leave = (): void => gone.abort(closed());
    const { socket } = request.raw;
    if (hasGone(request)) throw closed();
    const { pool, share } = ownerOf(request);
    socket.once("close", leave);
    try {
      request.bodyIsRead = await slots.take(`${pool} ${share}`, gone.signal);
      if (!hasGone(request)) return;
      // It went in the moment in which its turn came.
      request.bodyIsRead();
      throw closed();
    } catch (error) {
      if (!(error instanceof NoSlot)) throw error;
      throw new AppError("unavailable", "The server reads too many large requests at once, try again");
    } finally {
      socket.off("close", leave);
    }
  }
}

/** Makes the server read large bodies a few at a time. */
export function registerLargeBodies(app: FastifyInstance): void {
  app.decorate("largeBodies", new LargeBodies());
  app.decorateRequest("bodyIsRead", null);
  app.addHook("onRequest", async (request, reply) => {
    // However it ends.
    whenGone(reply, () => request.bodyIsRead?.());
  });
  app.addHook("onResponse", async (request) => request.bodyIsRead?.());
}
