import type { Socket } from "node:net";

/** Gives the connection below a TLS one, which alone can be reset; a connection without TLS is its own. */
export function rawSocketOf(socket: Socket): Socket {
  const { _parent: raw } = socket as Socket & { _parent?: Socket | null };
  return raw ?? socket;
}
