import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

/** An address as lists of networks are compared with it: IPv4 mapped into IPv6 is IPv4, a zone does not count. Undefined for no address. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [bare = ""] = text.split("%", 1);
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare);
}

/**
 * Gives an address in the form that PostgreSQL's `inet` takes.
 * @returns IPv4 for IPv4 mapped into IPv6, without a zone; undefined for a text that is no address.
 */
export function plainAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

const mappedBits = 96;

interface Network {
  address: ipaddr.IPv4 | ipaddr.IPv6;
  bits: number;
}

/** Reads what is before and behind the slash. A network of IPv4 mapped into IPv6 is one of IPv4. */
function parseNetwork(text: string): Network | undefined {
  const [, before = "", behind] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(before);
  if (family === 0) return undefined;
  const address = ipaddr.parse(before);
  const longest = family === 4 ? 32 : 128;
  const bits = behind === undefined ? longest : Number(behind);
  if (bits > longest) return undefined;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= mappedBits)
    return { address: address.toIPv4Address(), bits: bits - mappedBits };
  return { address, bits };
}

/** Takes the bits behind a network's length away. */
function maskedText({ address, bits }: Network): string {
  const written = `${address.toString()}/${bits}`;
  const network =
    address.kind() === "ipv4"
      ? ipaddr.IPv4.networkAddressFromCIDR(written)
      : ipaddr.IPv6.networkAddressFromCIDR(written);
  return `${network.toString()}/${bits}`;
}

/**
 * Gives a network in one form: `10.1.2.3/8` is `10.0.0.0/8`, an address alone a network of one, IPv4 mapped into IPv6 is IPv4 (RFC 4632, RFC 4291).
 * @returns undefined for a text that is none.
 */
export function networkText(text: string): string | undefined {
  const network = parseNetwork(text.trim());
  return network === undefined ? undefined : maskedText(network);
}

/** Says whether an address is in one of these networks. A text that is no address is in none. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  const one = parseAddress(address);
  if (one === undefined) return false;
  return networks.some((text) => {
    const network = parseNetwork(text);
    return network?.address.kind() === one.kind() && one.match([network.address, network.bits]);
  });
}

const wideBits = { ipv4: 24, ipv6: 48 };

/**
 * Gives the network by which it is told that somebody came from somewhere else: the /24 of an IPv4 address, the /48 of an IPv6 one.
 * @returns undefined for a text that is no address.
 */
export function wideNetworkOf(address: string): string | undefined {
  const one = parseAddress(address);
  return one === undefined ? undefined : maskedText({ address: one, bits: wideBits[one.kind()] });
}
