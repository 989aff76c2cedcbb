import { BlockList } from "node:net";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type Address, parseAddress } from "./address.ts";
import { isPublicAddress, isPublicHost, type Reach, reachOf } from "./reach.ts";

/** First and last address of each range, and whom one reaches there. */
const table: [string, string, Reach][] = [
  ["0.0.0.0", "0.255.255.255", "unspecified"],
  ["10.0.0.0", "10.255.255.255", "private"],
  ["100.64.0.0", "100.127.255.255", "shared"],
  ["127.0.0.0", "127.255.255.255", "loopback"],
  ["168.63.129.16", "168.63.129.16", "link_local"],
  ["169.254.0.0", "169.254.255.255", "link_local"],
  ["172.16.0.0", "172.31.255.255", "private"],
  ["192.0.0.0", "192.0.0.255", "reserved"],
  ["192.0.2.0", "192.0.2.255", "reserved"],
  ["192.88.99.0", "192.88.99.255", "reserved"],
  ["192.168.0.0", "192.168.255.255", "private"],
  ["198.18.0.0", "198.19.255.255", "reserved"],
  ["198.51.100.0", "198.51.100.255", "reserved"],
  ["203.0.113.0", "203.0.113.255", "reserved"],
  ["224.0.0.0", "239.255.255.255", "multicast"],
  ["240.0.0.0", "255.255.255.254", "reserved"],
  ["255.255.255.255", "255.255.255.255", "broadcast"],
  ["::", "::", "unspecified"],
  ["::1", "::1", "loopback"],
  ["::2", "::fffe:ffff:ffff", "reserved"],
  ["::ffff:0:0:0", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "private"],
  ["64:ff9b:2::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "public"],
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "public"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["2001:db9::", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "public"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["2003::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "public"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "public"],
  ["4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"],
  ["fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"],
  ["fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link_local"],
  ["fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"],
  ["ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"],
];

function address(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
}

const v4Table = table.filter(([first]) => !first.includes(":"));

function expectedV4(value: bigint): Reach {
  const row = v4Table.find(([first, last]) => address(first).value <= value && value <= address(last).value);
  return row?.[2] ?? "public";
}

/** Any address, and those at the edges of ranges more often. */
const v4Value = fc.oneof(
  fc.bigInt(0n, 0xffff_ffffn),
  fc
    .tuple(
      fc.constantFrom(...v4Table.flatMap(([first, last]) => [first, last])),
      fc.integer({ min: -1, max: 1 }),
    )
    .map(([edge, step]) => (address(edge).value + BigInt(step)) & 0xffff_ffffn),
);

function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
}

describe("reachOf", () => {
  it.each(table)("from %s to %s: %s", (first, last, reach) => {
    const { bits, value } = address(first);
    const end = address(last).value;
    for (const inside of [value, end, (value + end) / 2n])
      expect([inside, reachOf({ bits, value: inside })]).toEqual([inside, reach]);
  });

  it.each(["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"])(
    "finds %s public",
    (text) => expect(reachOf(address(text))).toBe("public"),
  );

  it("knows every IPv4 address, also mapped into IPv6 and behind NAT64", () => {
    fc.assert(
      fc.property(v4Value, (value) => {
        const reach = expectedV4(value);
        expect(reachOf({ bits: 32, value })).toBe(reach);
        expect(reachOf({ bits: 128, value: (0xffffn << 32n) | value })).toBe(reach);
        expect(reachOf({ bits: 128, value: (0x0064_ff9bn << 96n) | value })).toBe(reach);
        expect(reachOf(address(`::ffff:${dotted(value)}`))).toBe(reach);
      }),
      { numRuns: 2000 },
    );
  });

  it("calls nothing in a block list of private networks public", () => {
    const blocked = new BlockList();
    for (const [network, prefix] of [
      ["127.0.0.0", 8],
      ["10.0.0.0", 8],
      ["172.16.0.0", 12],
      ["192.168.0.0", 16],
      ["169.254.0.0", 16],
      ["100.64.0.0", 10],
      ["224.0.0.0", 3],
      ["0.0.0.0", 8],
    ] as const)
      blocked.addSubnet(network, prefix);
    fc.assert(
      fc.property(v4Value, (value) => {
        expect(blocked.check(dotted(value)) && isPublicAddress(dotted(value))).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("isPublicAddress", () => {
  it.each(["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])("lets %s pass", (text) =>
    expect(isPublicAddress(text)).toBe(true),
  );

  it.each([
    "169.254.169.254",
    "fd00:ec2::254",
    "100.100.100.200",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::808:808",
    "::127.0.0.1",
    "2002:7f00:1::",
    "2001:0:808:808::",
    "fe80::1%lo",
    "example.com",
    "",
    "127.1",
  ])("stops %s", (text) => expect(isPublicAddress(text)).toBe(false));
});

describe("isPublicHost", () => {
  it.each([
    "example.com",
    "example.com.",
    "hooks.slack.com",
    "8.8.8.8",
    "[2606:4700::1]",
    "xn--bcher-kva.example",
  ])("lets %s pass", (host) => expect(isPublicHost(host)).toBe(true));

  it.each([
    "localhost",
    "localhost.",
    "a.localhost",
    "db",
    "printer.local",
    "metadata.google.internal",
    "api.prod.svc",
    "api.prod.svc.cluster.local",
    "router.home.arpa",
    "nas.lan",
    "127.0.0.1",
    "127.0.0.1.",
    "[::1]",
    "[::ffff:7f00:1]",
    "[]",
    "",
    ".",
  ])("stops %j", (host) => expect(isPublicHost(host)).toBe(false));

  it("does not mind names that only look local", () => {
    for (const host of ["localhost.example.com", "mylocal.com", "internal.example", "lan.party"])
      expect(isPublicHost(host)).toBe(true);
  });
});
