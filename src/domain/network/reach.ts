import { type Address, parseAddress } from "./address.ts";

/** Where an address leads; only `public` is outside of the operator's own network for sure. */
export type Reach =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "shared"
  | "link_local"
  | "multicast"
  | "broadcast"
  | "reserved";

interface Range {
  bits: 32 | 128;
  shift: bigint;
  prefix: bigint;
  reach: Reach;
}

function range(cidr: string, reach: Reach): Range {
  const [text = "", length = ""] = cidr.split("/");
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`Not an address range: ${cidr}`);
  const shift = BigInt(address.bits - Number(length));
  return { bits: address.bits, shift, prefix: address.value >> shift, reach };
}

/** The special-purpose registries of RFC 6890 and its successors, the narrower range before the wider. */
const ranges: readonly Range[] = [
  range("0.0.0.0/8", "unspecified"),
  range("10.0.0.0/8", "private"),
  range("100.64.0.0/10", "shared"),
  range("127.0.0.0/8", "loopback"),
  // A cloud's platform service at a public address that only its own machines can reach.
  range("168.63.129.16/32", "link_local"),
  range("169.254.0.0/16", "link_local"),
  range("172.16.0.0/12", "private"),
  range("192.0.0.0/24", "reserved"),
  range("192.0.2.0/24", "reserved"),
  range("192.88.99.0/24", "reserved"),
  range("192.168.0.0/16", "private"),
  range("198.18.0.0/15", "reserved"),
  range("198.51.100.0/24", "reserved"),
  range("203.0.113.0/24", "reserved"),
  range("224.0.0.0/4", "multicast"),
  range("255.255.255.255/32", "broadcast"),
  range("240.0.0.0/4", "reserved"),

  range("::/128", "unspecified"),
  range("::1/128", "loopback"),
  range("64:ff9b:1::/48", "private"),
  range("fc00::/7", "private"),
  range("fe80::/10", "link_local"),
  range("fec0::/10", "private"),
  range("ff00::/8", "multicast"),
  // Protocol assignments (Teredo among them, which hides an IPv4 address), documentation, 6to4.
  range("2001::/23", "reserved"),
  range("2001:db8::/32", "reserved"),
  range("2002::/16", "reserved"),
  range("3fff::/20", "reserved"),
  range("2000::/3", "public"),
];

/** Ranges whose last 32 bits are the IPv4 address that is meant: mapped (RFC 4291) and NAT64 (RFC 6052). */
const embedding: readonly Range[] = [range("::ffff:0:0/96", "reserved"), range("64:ff9b::/96", "reserved")];

function contains(range: Range, address: Address): boolean {
  return range.bits === address.bits && address.value >> range.shift === range.prefix;
}

/** Finds where an address leads. IPv6 outside the global unicast block counts as reserved. */
export function reachOf(address: Address): Reach {
  if (embedding.some((range) => contains(range, address)))
    return reachOf({ bits: 32, value: address.value & 0xffff_ffffn });
  const found = ranges.find((range) => contains(range, address));
  return found?.reach ?? (address.bits === 32 ? "public" : "reserved");
}

/** Says whether a text is a public address, to which requests on behalf of users may go. What is no address is not. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && reachOf(address) === "public";
}

/** Names that never lead out of the machine, its network or its cluster (RFC 6761, RFC 6762, RFC 8375). */
const localNames = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|svc|home\.arpa)$/;

/**
 * Says whether a URL's host may be public: a public address, or a name that is not a local one. Names are not resolved:
 * check the address again before connecting.
 * @param hostname as the URL parser gives it: lower case, numeric forms made dotted decimal, IPv6 in brackets.
 */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "");
  if (host.startsWith("[")) return isPublicAddress(host.slice(1, -1));
  if (parseAddress(host) !== undefined) return isPublicAddress(host);
  return host.includes(".") && !localNames.test(host);
}
