import { isIP } from "node:net";

const groupsOfNetwork = 4;

/**
 * Whose an address is, as limits count it: the address itself for IPv4, the network of 64 bits for IPv6, of which whoever
 * has one address usually has all. IPv4 within IPv6 is IPv4.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const bare = address.split("%", 1)[0]!;
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

/** Whether an address is this machine's own. */
export function isLoopbackAddress(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./i.test(address);
}
