import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";

import { GatheringSocket } from "./gathering-socket.ts";

/** A socket that is connected, and the pieces in which what it sends leaves it. */
async function connected(): Promise<{
  socket: GatheringSocket;
  received: () => string;
  writes: () => number;
}> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const socket = new GatheringSocket();
  socket.connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[peer]] = await Promise.all([accepted, once(socket, "connect")]);
  onTestFinished(() => {
    socket.destroy();
    peer.destroy();
    server.close();
  });
  let text = "";
  peer.on("data", (bytes) => (text += bytes.toString()));
  const single = vi.spyOn(socket, "_write");
  const gathered = vi.spyOn(socket, "_writev" as "_write");
  return {
    socket,
    received: () => text,
    writes: () => single.mock.calls.length + gathered.mock.calls.length,
  };
}

/** Sends as the driver does. */
function send(socket: GatheringSocket, ...messages: string[]): void {
  socket.cork();
  for (const message of messages) socket.write(message);
  socket.uncork();
}

it("sends the statements of one turn together, and in order", async () => {
  const { socket, received, writes } = await connected();
  send(socket, "a", "b");
  send(socket, "c");
  await Promise.resolve();
  send(socket, "d");
  expect(writes()).toBe(0);
  await expect.poll(received).toBe("abcd");
  expect(writes()).toBe(1);
});

it("holds nothing back after the turn, nor when it is ended", async () => {
  const { socket, received, writes } = await connected();
  send(socket, "a");
  await expect.poll(received).toBe("a");
  socket.write("b");
  await expect.poll(received).toBe("ab");
  expect(writes()).toBe(2);
  send(socket, "c");
  socket.end("d");
  await expect.poll(received).toBe("abcd");
});
