import type { FastifyRequest } from "fastify";
import { expect, it } from "vitest";

import { ownerOf } from "./owner.ts";

const stranger = (clientAddress: string): string =>
  ownerOf({ caller: null, clientAddress } as FastifyRequest);

it("takes strangers of one IPv6 network for one, and those of other networks for others", () => {
  expect(stranger("2001:db8::1")).toBe(stranger("2001:db8::ffff:2"));
  expect(stranger("2001:db8::1")).not.toBe(stranger("2001:db8:0:1::1"));
  expect(stranger("192.0.2.1")).not.toBe(stranger("192.0.2.2"));
});
