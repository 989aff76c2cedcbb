import pg from "pg";
import { describe, expect, it } from "vitest";

import { findManagedPostgres } from "../../src/db/managed/index.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import { type ReceivedRequest, type Receiver, startReceiver } from "../support/receiver.ts";
import { startServer, withUsedDataDir } from "../support/server-process.ts";
import { call, type Site, startSite, until, waitingDeliveries } from "../support/site.ts";
import { amount } from "../support/thorough.ts";

const rounds = amount(2, 4);
const reportsInRound = 30;

/** Reports an artifact. @returns whether the server has taken it upon itself. */
async function report(site: Site, fingerprint: string): Promise<boolean> {
  const body = {
    fingerprint,
    filename: "web",
    build_url: "https://ci.test/1",
    commit_url: "https://git.test/1",
    trail_name: "run",
  };
  return call(site, "POST", `/artifacts/${site.org}/web`, body).then(
    ({ ok }) => ok,
    // The server is gone: it has promised nothing.
    () => false,
  );
}

/**
 * Answers every third message with a failure, every fifth not at all, the first time; all of them the second time.
 * @returns what has it leave hardly one more message without an answer: each of them takes the server half a minute, of waiting
 * for it and then for the target.
 */
function beFlaky(receiver: Receiver, onMessage: (count: number) => void): () => void {
  const seen = new Set<string>();
  let count = 0;
  let silences = Infinity;
  receiver.answer(({ headers }) => {
    const id = String(headers["webhook-id"]);
    count += 1;
    onMessage(count);
    if (seen.has(id)) return 200;
    seen.add(id);
    if (seen.size % 3 === 0) return 500;
    if (seen.size % 5 !== 0 || silences === 0) return 200;
    silences -= 1;
    return "never";
  });
  return () => void (silences = amount(0, 1));
}

/** Between two times that what failed is tried again, in milliseconds: it is given up after some twenty attempts, also of those that find the target left alone. */
const betweenTries = 3_000;

/** Has what failed tried again now, instead of after the tens of seconds that it would wait. */
async function tryAgainNow(client: pg.Client): Promise<void> {
  await client.query(
    `select graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) from graphile_worker.jobs
    where task_identifier = 'deliver_notification' and locked_at is null and run_at > now()
      and id not in (select job_id from job_ends)
    having count(*) > 0`,
  );
}

/** Ids of the messages about each artifact. */
function idsByFingerprint(received: readonly ReceivedRequest[]): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { headers, json } of received) {
    const fingerprint = String(json.artifact.fingerprint);
    ids.set(fingerprint, (ids.get(fingerprint) ?? new Set()).add(String(headers["webhook-id"])));
  }
  return ids;
}

describe("kill -9 while notifications are being sent to a flaky receiver", () => {
  it(
    "loses none of what was answered, and repeats only under the same id",
    { timeout: 240_000 },
    async () => {
      const receiver = await startReceiver();
      try {
        await withUsedDataDir(async (dataDir) => {
          const environment = { WAYBILL_ALLOW_PRIVATE_TARGETS: "1" };
          const site = await startSite(dataDir, environment);
          await call(site, "PUT", `/flows/${site.org}`, { name: "web", description: "" });
          const action = {
            name: "told",
            flows: ["web"],
            triggers: ["ON_ATTESTED_PROVENANCE"],
            targets: [{ type: "WEBHOOK", webhook: receiver.url }],
          };
          expect((await call(site, "PUT", `/actions/${site.org}/flows`, action)).status).toBe(201);

          let reached: (count: number) => void = () => {};
          const beLessSilent = beFlaky(receiver, (count) => reached(count));
          const acknowledged: string[] = [];
          for (let round = 0; round < rounds; round += 1) {
            const before = receiver.received.length;
            const enough = new Promise<void>((resolve) => {
              reached = (count) => (count - before > round * 3 ? resolve() : undefined);
            });
            const reporting = Array.from({ length: reportsInRound }, async (_, index) => {
              const fingerprint = fingerprintOf(`${round}-${index}`);
              if (await report(site, fingerprint)) acknowledged.push(fingerprint);
            });
            await enough;
            await site.server.kill();
            await Promise.all(reporting);
            if (round === rounds - 1) beLessSilent();
            site.server = await startServer(dataDir, environment);
          }
          expect(acknowledged.length).toBeGreaterThan(rounds);
          const client = new pg.Client(await findManagedPostgres(dataDir));
          await client.connect();
          let triedAt = -Infinity;
          await until(async () => {
            const now = performance.now();
            if (now - triedAt >= betweenTries) {
              triedAt = now;
              await tryAgainNow(client);
            }
            return (await waitingDeliveries(site)) === 0;
          });
          await client.end();

          const ids = idsByFingerprint(receiver.received);
          expect(acknowledged.filter((fingerprint) => !ids.has(fingerprint))).toEqual([]);
          expect([...ids.values()].filter(({ size }) => size > 1)).toEqual([]);
          const answer = await call(site, "GET", `/actions/${site.org}/1`);
          expect(await answer.json()).toMatchObject({ is_failing: false });
          expect(await site.server.stop()).toBe(0);
        });
      } finally {
        await receiver.stop();
      }
    },
  );
});
