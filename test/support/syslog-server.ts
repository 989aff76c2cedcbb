import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

import { certificateFile } from "./receiver.ts";

/** Somebody's collector of syslog over TLS. */
export interface SyslogServer {
  port: number;
  /** Whole messages, in the order in which they came. */
  received: string[];
  /** What is done with connections from now on: read, or cut after so many bytes of the first piece. */
  cutAfter(bytes: number | undefined): void;
  stop(): Promise<void>;
}

/** Takes whole frames (RFC 5425, section 4.3) off the beginning of what was received. @returns the rest. */
function takeFrames(bytes: Buffer, take: (message: string) => void): Buffer {
  for (let rest = bytes; ;) {
    const [prefix, length] = /^([1-9]\d*) /.exec(rest.subarray(0, 12).toString("latin1")) ?? [];
    if (prefix === undefined || rest.length < prefix.length + Number(length)) return rest;
    take(rest.subarray(prefix.length, prefix.length + Number(length)).toString("utf8"));
    rest = rest.subarray(prefix.length + Number(length));
  }
}

/** Starts a collector on a free port of this machine. */
export async function startSyslogServer(): Promise<SyslogServer> {
  const cert = certificateFile("trusted");
  const received: string[] = [];
  const open = new Set<TLSSocket>();
  let cut: number | undefined;
  const server = createServer(
    { cert: readFileSync(cert), key: readFileSync(cert.replace(".cert.", ".key.")) },
    (socket) => {
      open.add(socket);
      let rest: Buffer = Buffer.alloc(0);
      socket.on("error", () => undefined);
      socket.on("close", () => open.delete(socket));
      socket.on("data", (piece: Buffer) => {
        const taken = cut === undefined ? piece : piece.subarray(0, cut);
        rest = takeFrames(Buffer.concat([rest, taken]), (message) => received.push(message));
        if (cut !== undefined) socket.destroy();
      });
    },
  );
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    cutAfter: (bytes) => void (cut = bytes),
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
