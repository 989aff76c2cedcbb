import type { FastifyReply } from "fastify";

/**
 * Calls this when nothing more is sent of an answer, however it ended, which may be so already: then nobody would tell. What must be
 * given back is given back here: the hook `onResponse` is not called for a client that has gone.
 */
export function whenGone({ raw }: Pick<FastifyReply, "raw">, gone: () => void): void {
  if (raw.destroyed) gone();
  else raw.once("close", gone);
}
