import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isInNetworks, networkText, plainAddress, wideNetworkOf } from "./network-list.ts";

describe("networkText", () => {
  it.each([
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["192.0.2.7", "192.0.2.7/32"],
    [" 192.0.2.7/31 ", "192.0.2.6/31"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:db8::1/32", "2001:db8::/32"],
    ["2001:DB8:0:0::1", "2001:db8::1/128"],
    ["::ffff:10.1.2.3", "10.1.2.3/32"],
    ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
    ["::/0", "::/0"],
  ])("reads %s as %s", (given, expected) => {
    expect(networkText(given)).toBe(expected);
    expect(networkText(expected)).toBe(expected);
  });

  it.each([
    "",
    "here",
    "10.0.0.0/33",
    "10.0.0/8",
    "010.0.0.1",
    "0x7f.1",
    "::1/129",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
  ])("refuses %j", (given) => expect(networkText(given)).toBeUndefined());

  it("never throws, whatever the text", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.oneof(fc.ipV4Extended(), fc.ipV6()).map((address) => `${address}/9`),
    );
    fc.assert(
      fc.property(texts, (given) => {
        const network = networkText(given);
        expect(network === undefined || networkText(network) === network).toBe(true);
      }),
    );
  });
});

describe("isInNetworks", () => {
  it("is true of every address of a network, written either way", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, bits) => {
        const network = networkText(`${address}/${bits}`)!;
        expect(isInNetworks(address, [network])).toBe(true);
        expect(isInNetworks(`::ffff:${address}`, ["198.51.100.1/32", network])).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (address, bits) => {
        expect(isInNetworks(address, [networkText(`${address}/${bits}`)!])).toBe(true);
      }),
    );
  });

  it.each([
    ["10.0.0.1", ["10.0.1.0/24", "2001:db8::/32"]],
    ["2001:db9::1", ["2001:db8::/32", "0.0.0.0/0"]],
    ["::ffff:10.0.0.1", ["::/0"]],
    ["", ["0.0.0.0/0", "::/0"]],
    ["unix:", ["0.0.0.0/0", "::/0"]],
  ])("is false of %j in %j", (address, networks) => expect(isInNetworks(address, networks)).toBe(false));
});

it("gives addresses as they are compared", () => {
  expect(plainAddress("::ffff:192.0.2.7")).toBe("192.0.2.7");
  expect(plainAddress("fe80::1%eth0")).toBe("fe80::1");
  expect(plainAddress("nowhere")).toBeUndefined();
  expect(wideNetworkOf("::ffff:192.0.2.7")).toBe("192.0.2.0/24");
  expect(wideNetworkOf("2001:db8:1:2::3")).toBe("2001:db8:1::/48");
  expect(wideNetworkOf("")).toBeUndefined();
});
