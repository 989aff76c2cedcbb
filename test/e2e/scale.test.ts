// What the benchmark of large installations is measured with has to be as if it had been reported.
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { withClient, withPostgres } from "../../bench/scale/connection.ts";
import { epochAt, makeEpochs } from "../../bench/scale/make.ts";
import { readSeed, type SeedRows } from "../../bench/scale/seed-rows.ts";
import { reportSeed, scaleOrg } from "../../bench/scale/seed.ts";
import { Compiler, render, valuesOf } from "../../bench/scale/template.ts";
import { startServer, stopAll } from "../../bench/processes.ts";
import { withDatabase } from "../../bench/data.ts";
import { transaction } from "../../src/db/transaction.ts";
import { evaluateTrails } from "../../src/modules/process/compliance/service.ts";

const reported = 40;
const epochs = 25;
let folder: string;
let seedDir: string;
let madeDir: string;
let rows: SeedRows;

interface Asked {
  path: string;
  text: string;
}

/** Addresses of what was reported: of each kind of thing some. */
function addresses(): string[] {
  const table = (name: string) => rows.repeated.find((one) => one.name === name)!;
  const column = (name: string, of: string): string[] => {
    const { columns, rows: lines } = table(name);
    const place = columns.indexOf(of);
    return [...new Set(lines.map((line) => line.split("\t")[place]!))].filter((text) =>
      /^[0-9a-f]{40,64}$/.test(text),
    );
  };
  return [
    ...column("trails", "name")
      .slice(0, 12)
      .map((name) => `/search/${scaleOrg}/sha/${name}`),
    ...column("artifacts", "fingerprint")
      .slice(0, 12)
      .map((fingerprint) => `/trails/${scaleOrg}?fingerprint=${fingerprint}`),
    ...column("artifacts", "fingerprint")
      .slice(0, 12)
      .map((fingerprint) => `/search/${scaleOrg}/sha/${fingerprint}`),
  ];
}

async function ask(dataDir: string, paths: readonly string[]): Promise<Asked[]> {
  const server = await startServer(dataDir, { source: true });
  try {
    const asked: Asked[] = [];
    for (const path of paths) {
      const headers = { authorization: `Bearer ${server.key}` };
      const answer = await fetch(`${server.url}/api/v2${path}`, { headers });
      expect(answer.status).toBe(200);
      asked.push({ path, text: (await answer.text()).replaceAll(server.url, "http://waybill.test") });
    }
    return asked;
  } finally {
    await server.stop();
  }
}

/** Writes a text as it is in an epoch. */
function inEpoch(text: string, number: number): string {
  const compiler = new Compiler(rows.seed);
  const template = compiler.compile(text);
  return render(template, valuesOf(compiler.slots, epochAt(number, epochs, rows.seed)));
}

/** What counts of an answer: not how long ago it was, and what runs now only where it is the latest. */
function comparable(text: string, number: number): unknown {
  const ignored = number === epochs - 1 ? /ago|lead_time/ : /ago|lead_time|running_in|exited_from/;
  return JSON.parse(text, (key, value: unknown) => (ignored.test(key) ? null : value));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-scale-"));
  seedDir = join(folder, "seed");
  madeDir = join(folder, "made");
  await chmod(folder, 0o755);
  await mkdir(seedDir, { mode: 0o755 });
  const server = await startServer(seedDir, { source: true });
  await reportSeed(server, reported);
  await server.stop();
  rows = await withPostgres(seedDir, {}, (connection) =>
    withClient(connection, (client) => readSeed(client, scaleOrg)),
  );
  await cp(seedDir, madeDir, { recursive: true });
  await makeEpochs(madeDir, rows, epochs);
}, 240_000);
afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true, force: true });
});

describe("a multiple of what was reported", () => {
  it("is read like what was reported, in every epoch", async () => {
    const asked = await ask(seedDir, addresses());
    const wanted = [0, 11, epochs - 1].flatMap((number) =>
      asked.map(({ path, text }) => ({ path: inEpoch(path, number), text: inEpoch(text, number), number })),
    );
    const made = await ask(
      madeDir,
      wanted.map(({ path }) => path),
    );
    for (const [index, { text, number }] of wanted.entries())
      expect(comparable(made[index]!.text, number)).toEqual(comparable(text, number));
  }, 120_000);

  it("has the verdicts that judging it again gives, and dense numbers", async () => {
    const server = await startServer(madeDir, { source: true });
    await withDatabase(madeDir, async (db) => {
      const verdicts = async (): Promise<unknown[]> =>
        (
          await db.pool.query(
            `select trail_id, state, own_state, artifact_states,
               regexp_replace(status::text, '"evaluated_at":[0-9.]+', '', 'g') as status
             from trail_compliance where org_id = $1 order by trail_id`,
            [rows.orgId],
          )
        ).rows;
      const before = await verdicts();
      expect(before.length).toBeGreaterThan(400);
      const { rows: trails } = await db.pool.query<{ id: string }>(
        "select id from trails where org_id = $1",
        [rows.orgId],
      );
      await transaction(db, (tx) =>
        evaluateTrails(
          tx,
          rows.orgId,
          trails.map(({ id }) => id),
          { kind: "attestations", own: new Set(trails.map(({ id }) => id)) },
        ),
      );
      expect(await verdicts()).toEqual(before);
      const { rows: dense } = await db.pool.query(
        `select (select count(*) = max(number) and max(number) = $2 from builds where org_id = $1) as builds,
           (select count(*) = max(seq) and max(seq) = (select audit_seq from org_counters where org_id = $1)
            from audit_log where org_id = $1) as audit,
           (select sum(trails) from trail_tallies where org_id = $1) = (select count(*) from trails where org_id = $1) as trails`,
        [rows.orgId, rows.counts.builds * epochs],
      );
      expect(dense).toEqual([{ builds: true, audit: true, trails: true }]);
    });
    await server.stop();
  }, 120_000);
});
