import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { Server } from "node:http";
import { isIPv6 } from "node:net";
import { Server as TlsServer } from "node:tls";

/**
 * Finds the one address to listen on for an address or a name. The framework opens a second server for `localhost`, which
 * would have none of the limits that are set on the first.
 * @throws Error with the code ENOTFOUND for a name that this machine does not know.
 */
export async function listenAddress(host: string): Promise<string> {
  return (await lookup(host)).address;
}

/** Connections that wait to be accepted, at most; the kernel may allow fewer. */
export const mostWaiting = 4096;

/**
 * Listens on a socket that was handed over by whoever started the process. The framework cannot: it would leave out how many connections may
 * wait, and the kernel would have the socket forget those beyond Node's standard.
 * @returns the address.
 * @throws Error when the descriptor is no socket that listens for TCP.
 */
export async function takeSocket(server: Server, descriptor: number): Promise<string> {
  server.listen({ fd: descriptor }, mostWaiting);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    server.close();
    throw new Error("The socket that was handed over is none of TCP");
  }
  const host = isIPv6(address.address) ? `[${address.address}]` : address.address;
  return `${server instanceof TlsServer ? "https" : "http"}://${host}:${address.port}`;
}
