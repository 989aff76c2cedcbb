import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { endpoints } from "../../src/contract/index.ts";
import { urlOf } from "../support/databases.ts";
import { type Replicated, startReplicated } from "../support/replication.ts";
import { type ServerProcess, startServer, withDataDir } from "../support/server-process.ts";
import { ask, call, type Json, type Site, startSite } from "../support/site.ts";
import { amount } from "../support/thorough.ts";
import { uniqueName } from "../support/unique-name.ts";

const asOf = "x-waybill-as-of";

let both: Replicated;
let site: Site;
/** Another server on the same primary and the same replica. */
let other: ServerProcess;
let end: () => void = () => {};
let served: Promise<void>;

beforeAll(async () => {
  both = await startReplicated();
  const environment = {
    DATABASE_URL: both.primaryUrl,
    DATABASE_READ_URL: both.standbyUrl,
    WAYBILL_SECRET_KEY: "a key that all servers have, 32 characters",
  };
  await new Promise<void>((ready, failed) => {
    served = withDataDir(async (dataDir) => {
      site = await startSite(dataDir, environment);
      other = await startServer(dataDir, environment);
      await ask(site, "PUT", `/flows/${site.org}`, { name: "first", description: "" });
      ready();
      await new Promise<void>((done) => {
        end = done;
      });
    });
    served.catch(failed);
  });
}, 240_000);
afterAll(async () => {
  end();
  await served;
  await both.stop();
}, 60_000);

const elsewhere = (): { url: string; key: string } => ({ url: other.url, key: site.key });

/** Reads the flows. @returns their names, and whether the replica answered. */
async function readFlows(
  at: { url: string; key: string } = site,
): Promise<{ names: string[]; replica: boolean }> {
  const answer = await call(at, "GET", `/flows/${site.org}`);
  expect(answer.status).toBe(200);
  const names = ((await answer.json()) as Json[]).map(({ name }) => name as string);
  return { names, replica: answer.headers.has(asOf) };
}

async function addFlow(): Promise<string> {
  const name = uniqueName("flow");
  const answer = await call(site, "PUT", `/flows/${site.org}`, { name, description: "" });
  expect(answer.ok).toBe(true);
  return name;
}

/** Each server follows on its own how far the replica is. */
async function untilReplicaAnswers(at: { url: string; key: string } = site): Promise<void> {
  await expect.poll(async () => (await readFlows(at)).replica, { timeout: 60_000, interval: 200 }).toBe(true);
}

/**
 * Writes and reads through different servers for a while, many at a time, and looks for a read that does not show what was
 * acknowledged before it began. @returns how many reads the replica and the primary answered.
 */
async function hunt(rounds: number): Promise<{ replica: number; primary: number }> {
  const found = { replica: 0, primary: 0 };
  const stale: string[] = [];
  const hunter = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      const name = await addFlow();
      const { names, replica } = await readFlows(elsewhere());
      found[replica ? "replica" : "primary"] += 1;
      if (!names.includes(name)) stale.push(`${name}, read from the ${replica ? "replica" : "primary"}`);
    }
  };
  await Promise.all(Array.from({ length: 6 }, hunter));
  expect(stale).toEqual([]);
  return found;
}

describe("a read replica", { timeout: 120_000 }, () => {
  it("answers the reads that the contract lets it answer, and says as of when", async () => {
    await untilReplicaAnswers();
    for (const [id, { path, fromReplica, method, query }] of Object.entries<Json>(endpoints)) {
      const needsMore = query?.safeParse({}).success === false;
      if (method !== "GET" || needsMore || !/^\/[\w-]+\/\{org\}(?:\/[\w-]+)?$/.test(path)) continue;
      if (id === "stream_changes") continue;
      const answer = await call(site, "GET", path.replace("{org}", site.org));
      const time = answer.headers.get(asOf);
      await answer.arrayBuffer();
      if (fromReplica !== true) expect([id, time]).toEqual([id, null]);
      else if (time === null) expect([id, "answered by the replica"]).toEqual([id, "not"]);
      else expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(30);
    }
  });

  it("is never older than what was acknowledged, whoever wrote it through whichever server", async () => {
    expect((await hunt(amount(12, 25))).replica).toBeGreaterThan(0);
  });

  it("that lags or pauses leaves the reads to the primary", async () => {
    // Behind by a moment again and again, and in between not.
    const over = new AbortController();
    const pausing = (async () => {
      while (!over.signal.aborted) {
        await both.onStandby("select pg_wal_replay_pause()");
        await delay(150);
        await both.onStandby("select pg_wal_replay_resume()");
        await delay(400);
      }
    })();
    const found = await hunt(amount(12, 25));
    over.abort();
    await pausing;
    expect(found.primary).toBeGreaterThan(0);

    await both.onStandby("select pg_wal_replay_pause()");
    const name = await addFlow();
    const began = performance.now();
    expect(await readFlows()).toMatchObject({ replica: false });
    expect((await readFlows(elsewhere())).names).toContain(name);
    expect(performance.now() - began).toBeLessThan(5_000);
    await both.onStandby("select pg_wal_replay_resume()");
    await untilReplicaAnswers();
    expect((await readFlows()).names).toContain(name);
  });

  it("is not asked who may call: a key that was revoked is refused at once", async () => {
    const { id, key } = await ask(site, "POST", "/user/api-keys", { description: "short-lived" });
    await untilReplicaAnswers({ url: other.url, key });
    await both.onStandby("select pg_wal_replay_pause()");
    try {
      await ask(site, "DELETE", `/user/api-keys/${id}`);
      expect((await call({ url: other.url, key }, "GET", `/flows/${site.org}`)).status).toBe(401);
    } finally {
      await both.onStandby("select pg_wal_replay_resume()");
    }
    await untilReplicaAnswers();
  });

  it("shows who is told of a change what changed", async () => {
    const listening = new AbortController();
    const stream = await fetch(`${other.url}/api/v2/changes/${site.org}`, {
      headers: { authorization: `Bearer ${site.key}` },
      signal: listening.signal,
    });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let told = "";
    const hear = async (text: string): Promise<void> => {
      while (!told.includes(text)) told += (await reader.read()).value ?? "";
    };
    await hear("event: ready");
    for (let round = 0; round < 5; round += 1) {
      const name = await addFlow();
      await hear(name);
      expect((await readFlows(elsewhere())).names).toContain(name);
    }
    listening.abort();
  });

  it("that is killed fails no request, and is asked again when it is back", async () => {
    const hunting = hunt(40);
    await delay(300);
    await both.killStandby();
    await hunting;
    expect(await readFlows()).toMatchObject({ replica: false });
    await both.startStandby();
    await untilReplicaAnswers();
    const metrics = await (await fetch(`${site.url}/metrics`)).text();
    expect(metrics).toMatch(/^waybill_replica_reads_total\{replica="current"\} [1-9]/m);
    expect(metrics).toMatch(/^waybill_replica_lag_bytes \d/m);
  });

  it("of another database is refused at the start", async () => {
    await withDataDir(async (dataDir) => {
      const started = startServer(dataDir, {
        DATABASE_URL: both.primaryUrl,
        DATABASE_READ_URL: urlOf(inject("postgres"), "postgres"),
        WAYBILL_SECRET_KEY: "a key that all servers have, 32 characters",
      });
      await expect(started).rejects.toThrow(/DATABASE_READ_URL leads to no replica of the database/);
    });
  });

  it("that was promoted is a replica no more, whatever is written there", async () => {
    await both.onStandby("select pg_promote()");
    await both.onStandby("update flows set name = name || '-elsewhere'");
    const { names, replica } = await readFlows();
    expect(replica).toBe(false);
    expect(names.filter((name) => name.endsWith("-elsewhere"))).toEqual([]);
    expect(await hunt(5)).toMatchObject({ replica: 0 });
  });
});
