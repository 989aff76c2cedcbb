import { once } from "node:events";
import { connect, type Socket } from "node:net";

import type { TestApp, TestOrg } from "./app.ts";

/** Lets a test app listen on a port of this machine. @returns the port. */
export async function listen(app: TestApp): Promise<number> {
  const address = await app.server.listen({ port: 0, host: "127.0.0.1" });
  return Number(new URL(address).port);
}

/** Sends a request by hand, and reads nothing of the answer unless told to. */
export async function request(port: number, path: string, org?: TestOrg): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").pause();
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const authorization = org === undefined ? "" : `Authorization: Bearer ${org.reader.key}\r\n`;
  socket.write(`GET /api/v2${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`);
  return socket;
}
