import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

/** Gives the connection below a TLS one, which alone can be reset; a connection without TLS is its own. */
export function rawSocketOf(socket: Socket): Socket {
  const { _parent: raw } = socket as Socket & { _parent?: Socket | null };
  return raw ?? socket;
}

/** Listens for the connections on which requests come: those of TLS once they are secure. */
export function onServedConnection(server: Server, use: (socket: Socket) => void): void {
  server.on(server instanceof TlsServer ? "secureConnection" : "connection", use);
}
