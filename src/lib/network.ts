import { isIP } from "node:net";

const groupsOfNetwork = 4;

/**
 * Gives the network that limits per caller count an address for: the address itself for IPv4, its /64 for IPv6, because
 * whoever has one address of that usually has all. IPv4 mapped into IPv6 counts as IPv4.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [bare = ""] = address.split("%", 1);
  if (isIP(bare) !== 6) return address;
  const [head = "", tail = ""] = bare.toLowerCase().split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  // A last group that is written as IPv4 stands for two, and is never among the first four of a network.
  const zeros = bare.includes("::")
    ? Array.from({ length: 8 - before.length - after.length }, () => "0")
    : [];
  const groups = [...before, ...zeros, ...after].slice(0, groupsOfNetwork);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}

/** Says whether a text is a loopback address. Names of hosts are none, whatever they begin with. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && (address === "::1" || /^(?:::ffff:)?127\./i.test(address));
}

/** Says whether a host is this machine: by its name, or by its address. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

const everywhere = new Set(["0.0.0.0", "::"]);

/** Gives the host, as a URL writes it, at which this machine itself reaches a server that listens on an address or a name. */
export function reachableHost(host: string): string {
  if (everywhere.has(host)) return "127.0.0.1";
  return isIP(host) === 6 ? `[${host}]` : host;
}
