import { describe, expect, it } from "vitest";

import { analysis, type Json, signatureOf } from "../support/quality-server.ts";
import { startServer, withUsedDataDir } from "../support/server-process.ts";
import { call, type Site, startSite, until } from "../support/site.ts";
import { amount } from "../support/thorough.ts";

const rounds = amount(2, 4);
const deliveriesInRound = 30;

interface Hook {
  path: string;
  secret: string;
}

/** Signs and sends an analysis. @returns whether the server has taken it upon itself. */
async function deliver(site: Site, hook: Hook, payload: Json): Promise<boolean> {
  const body = JSON.stringify(payload);
  try {
    const answer = await fetch(`${site.server.url}${hook.path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-sonar-webhook-hmac-sha256": signatureOf(hook.secret, body),
      },
      body,
      signal: AbortSignal.timeout(20_000),
    });
    return answer.ok;
  } catch {
    // The server is gone: it has promised nothing.
    return false;
  }
}

async function count(site: Site, status: string): Promise<number> {
  const path = `/integrations/${site.org}/quality/deliveries?status=${status}&per_page=1`;
  const { total_count } = (await (await call(site, "GET", path)).json()) as { total_count: number };
  return total_count;
}

async function switchOn(site: Site): Promise<Hook> {
  const answer = await call(site, "PUT", `/integrations/${site.org}/quality`, {});
  const { webhook_url, secret } = (await answer.json()) as { webhook_url: string; secret: string };
  return { path: new URL(webhook_url).pathname, secret };
}

/**
 * Delivers many analyses at once and kills the server when it has answered for some of them.
 * @returns the revisions it has answered for.
 */
async function deliverAndKill(site: Site, hook: Hook, answered: number): Promise<string[]> {
  const acknowledged: string[] = [];
  let enough: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const sending = Array.from({ length: deliveriesInRound }, async () => {
    const payload = analysis();
    if (await deliver(site, hook, payload)) acknowledged.push(String(payload["revision"]));
    if (acknowledged.length >= answered) enough();
  });
  await reached;
  await site.server.kill();
  await Promise.all(sending);
  return acknowledged;
}

async function expectRecordedOnce(site: Site, revisions: string[]): Promise<void> {
  for (const revision of revisions) {
    const answer = await call(site, "GET", `/attestations/${site.org}/shop-api/trail/${revision}/sonar`);
    expect(answer.status, revision).toBe(200);
    expect(await answer.json(), revision).toHaveLength(1);
  }
}

describe("kill -9 while deliveries come in and are processed", () => {
  it("loses no delivery that was answered, and records each once", { timeout: 180_000 }, async () => {
    await withUsedDataDir(async (dataDir) => {
      const site = await startSite(dataDir);
      try {
        const hook = await switchOn(site);
        const acknowledged: string[] = [];
        for (let round = 0; round < rounds; round += 1) {
          acknowledged.push(...(await deliverAndKill(site, hook, 1 + round * 3)));
          site.server = await startServer(dataDir);
        }
        expect(acknowledged.length).toBeGreaterThan(rounds);
        await until(async () => (await count(site, "accepted")) === 0);
        expect(await count(site, "refused")).toBe(0);
        await expectRecordedOnce(site, acknowledged);
      } finally {
        expect(await site.server.stop()).toBe(0);
      }
    });
  });
});
