import pg from "pg";

import type { Database } from "../../src/db/connect.ts";
import { findManagedPostgres } from "../../src/db/managed/index.ts";
import { form, send } from "../api.ts";
import { withDatabase } from "../data.ts";
import {
  inRounds,
  jobFor,
  loadOther,
  loadOwn,
  objectsAt,
  type Setting,
  type Subject,
  tagAt,
  withBareServer,
  withMiniServer,
} from "../measure.ts";
import { loadedArtifact } from "../process-data.ts";
import { built, changingReports, large, numbers, runtimeOrgs } from "../runtime-data.ts";
import { median, rounded, type Scenario, type Verdict } from "../scenario.ts";

const org = runtimeOrgs.runtime;

/** What is wanted of the middle one of some rounds. */
type Wanted = { atLeast: number } | { atMost: number };

/** Writes the middle one of some rounds, and how far apart they were. */
function wording(rounds: readonly number[], unit = ""): string {
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)];
  return `${rounded(median(rounds))}${unit} (${rounded(least)} to ${rounded(most)})`;
}

/** Judges the middle one of some rounds. */
function judge(what: string, rounds: readonly number[], wanted: Wanted, unit = ""): Verdict {
  const middle = median(rounds);
  const isLeast = "atLeast" in wanted;
  return {
    what,
    target: isLeast ? `at least ${wanted.atLeast}${unit}` : `at most ${wanted.atMost}${unit}`,
    measured: wording(rounds, unit),
    met: isLeast ? middle >= wanted.atLeast : middle <= wanted.atMost,
  };
}

/** Loads another server as the subject is loaded. @returns answers each second. */
async function rateOf(
  url: string,
  pid: number,
  subject: Subject,
  job: ReturnType<typeof jobFor>,
): Promise<number> {
  const { throughput, failed } = await loadOther({ url, pid }, subject, job);
  if (failed > 0) throw new Error(`${subject.scenario}: ${failed} requests of the other server failed`);
  return throughput;
}

const lists: Subject[] = [
  ["environments", `environments/${org}?per_page=50&sort=last_modified_at&sort_direction=desc`],
  ["builds", `builds/${org}?per_page=50`],
  ["flows", `flows/${org}?per_page=50`],
  ["flows by latest activity", `flows/${org}?per_page=50&sort=latest_activity&sort_direction=desc`],
].map(([scenario, path]) => ({ scenario: scenario!, path: `/api/v2/${path!}` }));

/** Measures a list beside servers that answer the same objects: as text made each time, and as text made once. */
async function measureList(setting: Setting, subject: Subject): Promise<{ made: number; ready: number }[]> {
  const objects = await objectsAt(setting, subject.path);
  return withBareServer(objects, (madeUrl, madePid) =>
    withBareServer(
      objects,
      (readyUrl, readyPid) =>
        inRounds(setting, async () => {
          const job = jobFor(setting, subject, 16);
          const { throughput } = await loadOwn(setting, subject, job);
          const made = throughput / (await rateOf(madeUrl, madePid, subject, job));
          return { made, ready: throughput / (await rateOf(readyUrl, readyPid, subject, job)) };
        }),
      { ready: true },
    ),
  );
}

const reportsEachSecond = 20;

/** Sends an attestation to the organization every now and then while `work` does something else. */
async function whileReported<T>(setting: Setting, work: () => Promise<T>): Promise<T> {
  let failure: unknown;
  let sent = 0;
  const seed = Date.now();
  const timer = setInterval(() => {
    sent += 1;
    const data = { attestation_name: "unit", is_compliant: true, user_data: {} };
    const path = `/api/v2/attestations/${org}/flow-${1 + (sent % 50)}/trail/ratios-${seed}-${Math.floor(sent / 10)}/generic`;
    send(setting, "POST", path, form("data_json", data)).catch((error: unknown) => (failure = error));
  }, 1000 / reportsEachSecond);
  const result = await work().finally(() => clearInterval(timer));
  if (failure !== undefined) throw failure as Error;
  return result;
}

async function measureLists(setting: Setting): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const subject of lists) {
    const quiet = await measureList(setting, subject);
    const busy = await whileReported(setting, () => measureList(setting, subject));
    const title = `list of 50 ${subject.scenario}, 16 connections`;
    const ofReady = quiet.map(({ ready }) => ready);
    const verdict = judge(
      `${title}, of bare`,
      quiet.map(({ made }) => made),
      { atLeast: 1 },
    );
    verdicts.push(
      { ...verdict, measured: `${verdict.measured}; of ready bytes ${wording(ofReady)}` },
      judge(
        `${title}, of bare, while ${reportsEachSecond} reports a second arrive`,
        busy.map(({ made }) => made),
        { atLeast: 0.6 },
      ),
    );
  }
  return verdicts;
}

async function measureReads(setting: Setting): Promise<Verdict[]> {
  const snapshot = { scenario: "snapshot", path: `/api/v2/snapshots/${org}/${large.steady}/-1` };
  const environment = { scenario: "environment", path: `/api/v2/environments/${org}/${large.steady}` };
  const [path, ...others] = numbers(500).map((index) => {
    const { flow, fingerprint } = loadedArtifact(built, index + 1);
    return `/api/v2/attestations/${org}/${flow}/artifact/${fingerprint}/check-${1 + (index % 8)}`;
  });
  const attestations = { scenario: "attestations", path: path!, others };
  const cost = (subject: Subject, connections: number) =>
    inRounds(
      setting,
      async () => (await loadOwn(setting, subject, jobFor(setting, subject, connections))).cost,
    );
  const known = { ...snapshot, tag: await tagAt(setting, snapshot.path) };
  const ofKnown = (await cost(known, 1)).map(({ node, postgres }) => (node + postgres) / 1000);
  const ofSnapshot = (await cost(snapshot, 1)).map(({ node, postgres }) => (node + postgres) / 1000);
  const ofEnvironment = (await cost(environment, 16)).map(({ postgres }) => postgres);
  const ofAttestations = (await cost(attestations, 16)).map(({ postgres }) => postgres);
  return [
    judge("latest snapshot of 800: processor time", ofSnapshot, { atMost: 3 }, " ms"),
    judge("latest snapshot of 800, for who has it: processor time", ofKnown, { atMost: 3 }, " ms"),
    judge("one environment by name: PostgreSQL", ofEnvironment, { atMost: 145 }, " µs"),
    judge("attestations by fingerprint: PostgreSQL", ofAttestations, { atMost: 252 }, " µs"),
  ];
}

/** Writes rows for some seconds, each in a transaction of its own, on one connection. @returns how many a second. */
async function rowsEachSecond(connection: pg.ClientConfig, seconds: number): Promise<number> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const begun = performance.now();
    let rows = 0;
    for (; performance.now() - begun < seconds * 1000; rows += 1)
      await client.query({
        name: "row",
        text: "insert into bench.records (trail, body) values ($1, $2)",
        values: ["row", '{"is_compliant":true}'],
      });
    return rows / seconds;
  } finally {
    await client.end();
  }
}

/** What the database has taken so far, in bytes. */
interface Taken {
  wal: number;
  disk: number;
}

async function takenBy({ server }: Setting): Promise<Taken> {
  const read = async ({ pool }: Database): Promise<Taken> => {
    const { rows } = await pool.query<Taken>(
      `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as wal,
        (select sum(pg_total_relation_size(oid)) from pg_class
          where relnamespace = 'public'::regnamespace and relkind = 'r')::float8 as disk`,
    );
    return rows[0]!;
  };
  return withDatabase(server.dataDir, read);
}

/** Loads a subject, and measures what each answer took of the database, in bytes. */
async function loadTaking(setting: Setting, subject: Subject, connections: number) {
  const before = await takenBy(setting);
  const own = await loadOwn(setting, subject, jobFor(setting, subject, connections));
  const after = await takenBy(setting);
  const each = (part: keyof Taken): number => (after[part] - before[part]) / own.answered;
  return { own, wal: each("wal"), disk: each("disk") };
}

async function measureStoring(setting: Setting): Promise<Verdict[]> {
  const connection = await findManagedPostgres(setting.server.dataDir);
  if (connection === undefined) throw new Error("The server's database is not within reach");
  const subject: Subject = {
    scenario: "attestations reported",
    path: `/api/v2/attestations/${org}`,
    report: "attestation",
  };
  const rounds = await withMiniServer(connection, (url, pid) =>
    inRounds(setting, async () => {
      const many = await loadTaking(setting, subject, 64);
      const mini = await rateOf(url, pid, subject, jobFor(setting, subject, 64));
      const alone = await loadOwn(setting, subject, jobFor(setting, subject, 1));
      const rows = await rowsEachSecond(connection, setting.seconds);
      return { ofMini: many.own.throughput / mini, ofRows: alone.throughput / rows, disk: many.disk / 1000 };
    }),
  );
  await withDatabase(setting.server.dataDir, (db) => db.pool.query("drop schema bench cascade"));
  return [
    judge(
      "generic attestation, 64 connections, of mini",
      rounds.map(({ ofMini }) => ofMini),
      { atLeast: 0.35 },
    ),
    judge(
      "generic attestation, alone, of a durable row a transaction",
      rounds.map(({ ofRows }) => ofRows),
      {
        atLeast: 0.12,
      },
    ),
    judge(
      "disk an attestation, tables and indexes",
      rounds.map(({ disk }) => disk),
      { atMost: 2 },
      " KB",
    ),
  ];
}

async function measureChanges(setting: Setting): Promise<Verdict[]> {
  const subject: Subject = { scenario: "changed report", path: "", puts: changingReports };
  // After a checkpoint whole pages are written to the WAL once more, which says more of the checkpoint than of the report.
  const pages: number[] = [];
  const rounds = await inRounds(setting, async () => {
    await withDatabase(setting.server.dataDir, (db) => db.pool.query("checkpoint"));
    pages.push((await loadTaking(setting, subject, 1)).wal / 1000);
    return loadTaking(setting, subject, 1);
  });
  const processor = rounds.map(({ own: { cost } }) => (cost.node + cost.postgres) / 1000);
  const wal = judge(
    "changed report of 800: WAL",
    rounds.map((each) => each.wal / 1000),
    { atMost: 120 },
    " KB",
  );
  return [
    judge("changed report of 800 (16 differ): processor time", processor, { atMost: 40 }, " ms"),
    { ...wal, measured: `${wal.measured}; right after a checkpoint ${wording(pages, " KB")}` },
    judge(
      "changed report of 800: disk",
      rounds.map(({ disk }) => disk / 1000),
      { atMost: 150 },
      " KB",
    ),
  ];
}

/** Has builds made, by reporting artifacts for a moment. */
async function makeBuilds(setting: Setting): Promise<void> {
  const subject: Subject = { scenario: "builds made", path: `/api/v2/artifacts/${org}`, report: "artifact" };
  await loadOwn(setting, subject, { ...jobFor(setting, subject, 16), seconds: 1 });
}

/** The scenario of figures that compare on any machine: each beside what it is compared with, in turn, in the same rounds. */
export const ratiosScenario: Scenario = {
  name: "ratios",
  run: async (setting) => {
    await makeBuilds(setting);
    const verdicts = [
      ...(await measureLists(setting)),
      ...(await measureReads(setting)),
      ...(await measureStoring(setting)),
      ...(await measureChanges(setting)),
    ];
    return { figures: [], verdicts };
  },
};
