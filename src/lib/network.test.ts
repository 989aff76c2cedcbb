import { describe, expect, it } from "vitest";

import { isLoopbackAddress, networkOf } from "./network.ts";

describe("the network of an address", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8:0:0:ffff::2", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::9", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["1:2:3:4:5:6:192.0.2.7", "1:2:3:4::/64"],
    ["", ""],
  ])("%s is %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe("this machine", () => {
  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])("is %s", (address) => {
    expect(isLoopbackAddress(address)).toBe(true);
  });

  it.each(["128.0.0.1", "192.0.2.127", "::2", "2001:db8::1", "127.example.org", "127.1", ""])(
    "is not %s",
    (address) => {
      expect(isLoopbackAddress(address)).toBe(false);
    },
  );
});
