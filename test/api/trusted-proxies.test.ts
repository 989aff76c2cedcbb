import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { askRoute, readRoute, routeHeader } from "../../src/domain/route.ts";
import { createSecretBox } from "../../src/lib/secret-box.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    WAYBILL_TRUSTED_PROXIES: "loopback, 10.0.0.0/8",
    WAYBILL_RATE_LIMIT_PER_ADDRESS: "3",
  });
});
afterAll(() => app.close());

async function statusOf(url: string, remoteAddress: string, forwardedFor?: string): Promise<number> {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  return (await app.server.inject({ url, remoteAddress, headers })).statusCode;
}

describe("behind a trusted proxy", () => {
  it("limits count the sender, IPv6 by its network, and not the proxy", async () => {
    const all = async (senders: string[]): Promise<number[]> => {
      const statuses: number[] = [];
      for (const sender of senders) statuses.push(await statusOf("/live", "10.0.0.1", sender));
      return statuses;
    };
    expect(await all(["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"])).toEqual([
      200, 200, 200, 429, 200,
    ]);
    expect(
      await all(["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8:0:1::1"]),
    ).toEqual([200, 200, 200, 429, 200]);
  });

  it("who writes the proxy's header without being one counts for himself", async () => {
    const statuses = [];
    for (const pretended of ["198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"])
      statuses.push(await statusOf("/live", "192.0.2.9", pretended));
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it("metrics are shown to this machine, whether through the proxy or not", async () => {
    expect(await statusOf("/metrics", "127.0.0.1")).toBe(200);
    expect(await statusOf("/metrics", "127.0.0.1", "127.0.0.1")).toBe(200);
    expect(await statusOf("/metrics", "127.0.0.1", "192.0.2.77")).toBe(401);
    expect(await statusOf("/metrics", "10.0.0.1", "127.0.0.1")).toBe(401);
  });

  it("who has the secret key is told by which way a request came, and nobody else", async () => {
    const ask = async (question: string) => {
      const headers = { [routeHeader]: question, "x-forwarded-for": "192.0.2.1, 203.0.113.7" };
      const answer = await app.server.inject({ url: "/live", remoteAddress: "10.0.0.2", headers });
      return answer.headers[routeHeader];
    };
    const { secrets, clock } = app.deps;
    expect(readRoute(String(await ask(askRoute(secrets, clock.now()))))).toEqual({
      peer: "10.0.0.2",
      address: "203.0.113.7",
      is_trusted: true,
      forwarded_for: "192.0.2.1, 203.0.113.7",
    });
    expect(await ask(askRoute(createSecretBox("another key"), clock.now()))).toBeUndefined();
    expect(await ask(askRoute(secrets, clock.now() - 61))).toBeUndefined();
  });
});
