import { lookup } from "node:dns/promises";

/**
 * Finds the one address to listen on for an address or a name. The framework opens a second server for `localhost`, which
 * would have none of the limits that are set on the first.
 * @throws Error with the code ENOTFOUND for a name that this machine does not know.
 */
export async function listenAddress(host: string): Promise<string> {
  return (await lookup(host)).address;
}
