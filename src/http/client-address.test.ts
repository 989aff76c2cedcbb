import fc from "fast-check";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, describe, expect, it } from "vitest";

import type { TrustedProxies } from "../config-edge.ts";
import { isFromThisMachine, registerClientAddress, senderOf, trustOf } from "./client-address.ts";

describe("who sent a request", () => {
  it.each<[string[], string]>([
    [["192.0.2.1"], "192.0.2.1"],
    [["10.0.0.1", "203.0.113.9"], "203.0.113.9"],
    [["10.0.0.1", "10.0.0.2", "2001:db8::1"], "2001:db8::1"],
    [["10.0.0.1", "203.0.113.9:49152"], "203.0.113.9"],
    [["10.0.0.1", "[2001:db8::1]:443"], "2001:db8::1"],
    [["10.0.0.1", "[2001:db8::1]"], "2001:db8::1"],
    [["10.0.0.1", "unknown"], "10.0.0.1"],
    [["10.0.0.1", "203.0.113.9, 1"], "10.0.0.1"],
    [["10.0.0.1", "999.1.1.1"], "10.0.0.1"],
    [["10.0.0.1", "[::1"], "10.0.0.1"],
    [["10.0.0.1", ""], "10.0.0.1"],
    [[], ""],
  ])("of %j is %s", (addresses, sender) => {
    expect(senderOf(addresses)).toBe(sender);
  });

  it("is always an address, whatever stands in the header", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        expect(senderOf(["192.0.2.1", ...texts])).toMatch(/^[\da-f.:%]+/i);
      }),
    );
  });
});

describe("whom to believe", () => {
  it("is nobody unless set", () => {
    expect(trustOf(undefined)("127.0.0.1", 0)).toBe(false);
  });

  it.each<[string, boolean]>([
    ["127.0.0.1", true],
    ["::1", true],
    ["::ffff:10.1.2.3", true],
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["2001:db8::7", true],
    ["2001:db9::7", false],
    ["unknown", false],
    ["", false],
  ])("%s by its network: %s", (address, isBelieved) => {
    expect(trustOf(["loopback", "10.0.0.0/8", "2001:db8::/32"])(address, 3)).toBe(isBelieved);
  });

  it("is so many next ones, by their number", () => {
    const trust = trustOf(2);
    expect([0, 1, 2, 3].map((hop) => trust("203.0.113.9", hop))).toEqual([true, true, false, false]);
  });
});

type Headers = Record<string, string>;

/** What strangers may write to be taken for somebody else. */
const spoofs: Headers[] = [
  "198.51.100.1",
  "127.0.0.1",
  "::1",
  "::ffff:127.0.0.1",
  "10.0.0.9",
  "198.51.100.1, 10.0.0.9",
  "127.0.0.1, 127.0.0.1",
  "unknown",
  "",
  ",",
  " , ",
  "198.51.100.1:80",
  "[::1]:80",
  "0x7f000001",
  "2130706433",
  "127.1",
  "localhost",
  "a".repeat(4000),
  Array.from({ length: 500 }, () => "10.0.0.9").join(","),
  "198.51.100.1;proto=https",
].flatMap((value) => [
  { "x-forwarded-for": value },
  {
    "x-forwarded-for": value,
    forwarded: `for=${value.slice(0, 50)}`,
    "x-real-ip": "127.0.0.1",
    "x-client-ip": "::1",
  },
]);

/** A server that answers whom it takes a request to come from, and whether that is this machine. */
function serverThatTrusts(proxies: TrustedProxies | undefined): FastifyInstance {
  const app = Fastify(proxies === undefined ? {} : { trustProxy: trustOf(proxies) });
  registerClientAddress(app);
  app.get("/", async (request) => [request.clientAddress, isFromThisMachine(request)]);
  return app;
}

describe("headers that strangers write", () => {
  const [nobody, proxies, one, two] = [undefined, ["loopback", "10.0.0.0/8"], 1, 2].map(serverThatTrusts) as [
    FastifyInstance,
    FastifyInstance,
    FastifyInstance,
    FastifyInstance,
  ];
  afterAll(() => Promise.all([nobody, proxies, one, two].map((app) => app.close())));

  const seen = async (app: FastifyInstance, peer: string, headers: Headers): Promise<unknown> =>
    (await app.inject({ url: "/", remoteAddress: peer, headers })).json();
  /** What a proxy makes of the headers: it adds whom it was sent them by. */
  const passedOn = (headers: Headers, by: string): Headers => ({
    ...headers,
    "x-forwarded-for": `${headers["x-forwarded-for"]}, ${by}`,
  });
  const stranger = "203.0.113.9";

  it.each(spoofs.map((headers) => [JSON.stringify(headers).slice(0, 100), headers] as const))(
    "%s",
    async (_name, headers) => {
      // Directly: of nobody who is not trusted is anything believed.
      for (const app of [nobody, proxies])
        expect(await seen(app, stranger, headers)).toEqual([stranger, false]);
      // From this machine, through a proxy that is not trusted.
      expect(await seen(nobody, "127.0.0.1", headers)).toEqual(["127.0.0.1", false]);
      // Through one and two trusted proxies.
      const once = passedOn(headers, stranger);
      for (const app of [proxies, one]) expect(await seen(app, "127.0.0.1", once)).toEqual([stranger, false]);
      const twice = passedOn(once, "10.0.0.2");
      for (const app of [proxies, two]) expect(await seen(app, "10.0.0.1", twice)).toEqual([stranger, false]);
    },
  );
});

describe("this machine", () => {
  it.each<[TrustedProxies | undefined, string, Headers, boolean]>([
    [undefined, "127.0.0.1", {}, true],
    [undefined, "::1", {}, true],
    [undefined, "192.0.2.1", {}, false],
    [["loopback"], "127.0.0.1", {}, true],
    [["loopback"], "127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, true],
    [["loopback"], "127.0.0.1", { "x-forwarded-for": "::1" }, true],
    [["loopback"], "127.0.0.1", { "x-forwarded-for": "192.0.2.1" }, false],
    [["loopback"], "127.0.0.1", { forwarded: "for=192.0.2.1" }, false],
    [["10.0.0.0/8"], "127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, false],
    [["10.0.0.0/8"], "10.0.0.1", { "x-forwarded-for": "127.0.0.1" }, false],
    // Whoever reaches the server without the proxy.
    [1, "192.0.2.1", { "x-forwarded-for": "127.0.0.1" }, false],
    [2, "127.0.0.1", { "x-forwarded-for": "127.0.0.1, 192.0.2.1" }, false],
  ])("with %j trusted, at %s, with %j: %s", async (proxies, peer, headers, isThisMachine) => {
    const app = serverThatTrusts(proxies);
    const answer = (await app.inject({ url: "/", remoteAddress: peer, headers })).json<[string, boolean]>();
    await app.close();
    expect(answer[1]).toBe(isThisMachine);
  });
});
