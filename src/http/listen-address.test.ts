import { isIP } from "node:net";
import { expect, it } from "vitest";

import { listenAddress } from "./listen-address.ts";

it("finds one address for a name", async () => {
  expect(isIP(await listenAddress("localhost"))).toBeGreaterThan(0);
});

it.each(["127.0.0.1", "0.0.0.0", "::1"])("leaves %s as it is", async (address) => {
  expect(await listenAddress(address)).toBe(address);
});
