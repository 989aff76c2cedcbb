import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseUrl } from "../../lib/url.ts";
import { parseAddress } from "./address.ts";

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });

function valueOf(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n);
}

describe("parseAddress", () => {
  it.each([
    ["0.0.0.0", 32, 0n],
    ["255.255.255.255", 32, 0xffff_ffffn],
    ["127.0.0.1", 32, 0x7f00_0001n],
    ["::", 128, 0n],
    ["::1", 128, 1n],
    ["1::", 128, 1n << 112n],
    ["::ffff:1.2.3.4", 128, 0xffff_0102_0304n],
    ["1:2:3:4:5:6:1.2.3.4", 128, 0x0001_0002_0003_0004_0005_0006_0102_0304n],
    ["1:2:3:4:5:6:7::", 128, 0x0001_0002_0003_0004_0005_0006_0007_0000n],
    ["FE80::ABCD", 128, (0xfe80n << 112n) | 0xabcdn],
  ] as const)("reads %s", (text, bits, value) => {
    expect(parseAddress(text)).toEqual({ bits, value });
  });

  it.each([
    "",
    ".",
    ":",
    ":::",
    "1",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "1.2.3.04",
    "01.2.3.4",
    "0x7f.0.0.1",
    "2130706433",
    "1.2.3.4 ",
    "1.2.3.-4",
    "1.2.3.٤",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8",
    "1:2:3:4::5:6:7:8",
    "12345::",
    "::g",
    ":1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:",
    "1.2.3.4::",
    "::1.2.3.4:5",
    "::1.2.3",
    "::256.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    "fe80::1%eth0",
    "[::1]",
    "example.com",
    "a".repeat(1_000_000),
  ])("is not taken in by %j", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it("reads every dotted decimal", () => {
    fc.assert(
      fc.property(octets, (parts) => {
        expect(parseAddress(parts.join("."))).toEqual({ bits: 32, value: valueOf(parts, 8n) });
      }),
    );
  });

  it("reads IPv6 written out, as the URL parser compresses it, and with zeros compressed anywhere", () => {
    fc.assert(
      fc.property(groups, fc.nat(7), fc.nat(7), (parts, from, length) => {
        const value = valueOf(parts, 16n);
        const hex = parts.map((part) => part.toString(16));
        expect(parseAddress(hex.join(":"))).toEqual({ bits: 128, value });
        const normal = new URL(`http://[${hex.join(":")}]`).hostname.slice(1, -1);
        expect(parseAddress(normal)).toEqual({ bits: 128, value });
        const end = Math.min(8, from + 1 + length);
        const zeroed = parts.map((part, index) => (index >= from && index < end ? 0 : part));
        const compressed = `${hex.slice(0, from).join(":")}::${hex.slice(end).join(":")}`;
        expect(parseAddress(compressed)).toEqual({ bits: 128, value: valueOf(zeroed, 16n) });
      }),
    );
  });

  it("agrees with the URL parser on what is an IPv6 address, and never throws", () => {
    const text = fc.string({ unit: fc.constantFrom(..."0123456789abcfx:.%".split("")), maxLength: 24 });
    fc.assert(
      fc.property(text, (candidate) => {
        const address = parseAddress(candidate);
        if (!candidate.includes(":")) return;
        expect(address !== undefined).toBe(parseUrl(`http://[${candidate}]`) !== undefined);
      }),
      { numRuns: 2000 },
    );
  });
});
