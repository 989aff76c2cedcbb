import type { FastifyRequest } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createGuessLimit } from "../../src/http/guess-limit.ts";
import { unauthenticated } from "../../src/modules/kernel/access/service.ts";
import { startTestApp, type TestApp, type TestUser } from "../support/app.ts";

let app: TestApp;
let user: TestUser;
const limit = 3;
const token = "token-of-those-who-watch";
beforeAll(async () => {
  app = await startTestApp({
    WAYBILL_FAILED_KEYS_PER_ADDRESS: String(limit),
    WAYBILL_METRICS_TOKEN: token,
  });
  user = await app.user();
});
afterAll(() => app.close());

async function ask(remoteAddress: string, key: string | undefined, url = "/api/v2/user") {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const { statusCode, headers: answered } = await app.server.inject({ url, remoteAddress, headers });
  return { status: statusCode, retryAfter: Number(answered["retry-after"]) };
}

async function guess(address: string, times: number): Promise<number[]> {
  const statuses = [];
  for (let index = 0; index < times; index += 1) statuses.push((await ask(address, `wrong-${index}`)).status);
  return statuses;
}

describe("keys that do not work", () => {
  it("are 429 past the limit of their address, also the first that would work, until a minute has passed", async () => {
    expect(await guess("192.0.2.1", limit + 2)).toEqual([401, 401, 401, 429, 429]);
    const refused = await ask("192.0.2.1", user.key);
    expect(refused.status).toBe(429);
    expect(refused.retryAfter).toBeGreaterThan(50);
    expect((await ask("192.0.2.2", user.key)).status).toBe(200);
    app.clock.advance(61);
    expect((await ask("192.0.2.1", (await app.user()).key)).status).toBe(200);
  });

  it("leave alone who works from the same address, until that key is revoked", async () => {
    const beside = await app.user();
    const made = (await beside.client.post("/user/api-keys", { description: "revoked" })).json as {
      id: string;
      key: string;
    };
    const address = "192.0.2.3";
    expect((await ask(address, made.key)).status).toBe(200);
    expect((await guess(address, limit + 1)).at(-1)).toBe(429);
    expect((await ask(address, made.key)).status).toBe(200);
    await beside.client.delete(`/user/api-keys/${made.id}`);
    expect((await ask(address, made.key)).status).toBe(401);
    expect((await ask(address, made.key)).status).toBe(429);
  });

  it("are counted by network for IPv6", async () => {
    const statuses = [];
    for (const last of [1, 2, 3, 4]) statuses.push(...(await guess(`2001:db8::${last}`, 1)));
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await ask("2001:db8:0:1::1", "wrong")).status).toBe(401);
  });

  it("are counted together, by whichever route they come", async () => {
    const address = "192.0.2.7";
    const signOut = (key: string): Promise<number> =>
      app.server
        .inject({
          method: "POST",
          url: "/-/sign-out",
          remoteAddress: address,
          headers: { authorization: `Bearer ${key}` },
        })
        .then(({ statusCode }) => statusCode);
    expect((await ask(address, "wrong-0", "/health")).status).toBe(401);
    expect(await signOut("wrong-1")).toBe(401);
    expect((await guess(address, 1)).at(-1)).toBe(401);
    expect((await ask(address, "wrong-2", "/health")).status).toBe(429);
    expect(await signOut("wrong-3")).toBe(429);
    expect((await guess(address, 1)).at(-1)).toBe(429);
  });

  it("keep out nobody who has the token for metrics", async () => {
    const address = "192.0.2.8";
    await guess(address, limit + 1);
    for (const url of ["/health", "/api/v2/health"])
      expect((await ask(address, token, url)).status).toBe(200);
  });

  it("are counted together with wrong tokens for metrics, the right one being answered all the same", async () => {
    const address = "192.0.2.9";
    const scrape = async (given: string | undefined): Promise<number> =>
      (await ask(address, given, "/metrics")).status;
    // What brings nothing guesses nothing.
    for (let index = 0; index < limit + 2; index += 1) expect(await scrape(undefined)).toBe(401);
    expect(await scrape("wrong-0")).toBe(401);
    expect(await guess(address, 1)).toEqual([401]);
    expect(await scrape(`${token}-`)).toBe(401);
    expect((await ask(address, "wrong-1", "/metrics")).retryAfter).toBeGreaterThan(50);
    expect(await scrape("wrong-2")).toBe(429);
    expect(await guess(address, 1)).toEqual([429]);
    expect(await scrape(token)).toBe(200);
    expect((await ask("192.0.2.10", "wrong-1", "/metrics")).status).toBe(401);
    app.clock.advance(61);
    expect(await scrape("wrong-3")).toBe(401);
  });

  it("past the limit are not looked up", async () => {
    let lookups = 0;
    const lookUp = async (): Promise<never> => {
      lookups += 1;
      throw unauthenticated();
    };
    const config = { ...app.deps.config, failedKeysPerAddress: 2 };
    const limitGuesses = createGuessLimit({ config, clock: app.clock });
    const request = { clientAddress: "192.0.2.6" } as FastifyRequest;
    for (let index = 0; index < 5; index += 1)
      await limitGuesses
        .authenticate(request, { authorization: `Bearer ${index}`, cookie: undefined }, lookUp)
        .catch(() => {});
    expect(lookups).toBe(2);
  });

  it("are not what comes without any, nor a bogus one where none is needed", async () => {
    const open = await app.org({ public: true });
    const url = `/api/v2/environments/${open.name}`;
    for (let index = 0; index < limit + 2; index += 1) {
      expect((await ask("192.0.2.4", undefined)).status).toBe(401);
      expect((await ask("192.0.2.5", "bogus", url)).status).toBe(200);
    }
    await guess("192.0.2.4", limit + 1);
    expect((await ask("192.0.2.4", undefined)).status).toBe(401);
  });
});
