import { expect } from "vitest";

import type { TestApp, TestOrg } from "./app.ts";
import { fingerprintOf } from "./artifacts.ts";
import type { Answer } from "./client.ts";

/** What runs, as servers report it: names that stand for fingerprints of their own, or names with a fingerprint. */
export type Running = (string | { name: string; fingerprint: string; started?: number[] })[];

const start = 1_780_000_000;

/** A report of kind `server`. */
function serverReport(running: Running): Record<string, unknown> {
  return {
    artifacts: running.flatMap((each) => {
      const artifact = typeof each === "string" ? { name: each, fingerprint: fingerprintOf(each) } : each;
      const { name, fingerprint, started } = { started: [start], ...artifact };
      return started.map((creationTimestamp) => ({ digests: { [name]: fingerprint }, creationTimestamp }));
    }),
  };
}

/** Reports what runs on a server, as its reporter would. */
export function reportServer(org: TestOrg, environment: string, running: Running): Promise<Answer> {
  return org.snapshotter.put(`/environments/${org.name}/${environment}/report/server`, serverReport(running));
}

/** The latest snapshot, or the one an expression names. */
export async function getSnapshot(
  org: TestOrg,
  environment: string,
  expression = "-1",
): Promise<Answer["json"]> {
  const path = `/snapshots/${org.name}/${environment}/${encodeURIComponent(expression)}`;
  const answer = await org.reader.get(path);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

/** `name: annotation was>now` of each artifact, in the order in which they are shown. */
export function annotations(snapshot: Answer["json"]): string[] {
  const artifacts: { name: string; annotation: { type: string; was: number; now: number } }[] =
    snapshot.artifacts;
  return artifacts.map(({ name, annotation: { type, was, now } }) => `${name}: ${type} ${was}>${now}`);
}

/** How many events each environment had, by counting; their numbers have to say the same. */
export async function countEvents(app: TestApp, org: TestOrg): Promise<Record<string, number>> {
  const { pool } = app.deps.db;
  const { rows: misnumbered } = await pool.query(
    `select environment_id, id, event_number, counted from (
      select *, row_number() over (partition by environment_id order by first_index, id) as counted
      from snapshot_artifacts where org_id = $1 and type <> 'unchanged') events
    where event_number <> counted
    union all
    select s.environment_id, s.index, s.event_count, counted.count from snapshots s cross join lateral (
      select count(*) from snapshot_artifacts a
      where a.org_id = s.org_id and a.environment_id = s.environment_id and a.type <> 'unchanged'
        and a.first_index <= s.index) counted
    where s.org_id = $1 and s.event_count <> counted.count
    union all
    select s.environment_id, s.index, s.started_count + s.exited_count + s.verdict_count + s.changed_count, counted.count
    from snapshots s cross join lateral (
      select count(*), count(*) filter (where type like 'started-%') as started,
        count(*) filter (where type = 'exited') as exited, count(*) filter (where type like 'became-%') as verdict
      from snapshot_artifacts a
      where a.org_id = s.org_id and a.environment_id = s.environment_id and a.type <> 'unchanged'
        and a.first_index = s.index) counted
    where s.org_id = $1 and (s.started_count, s.exited_count, s.verdict_count, s.changed_count) is distinct from
      (counted.started, counted.exited, counted.verdict, counted.count - counted.started - counted.exited - counted.verdict)`,
    [org.id],
  );
  expect(misnumbered).toEqual([]);
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select e.name, count(*)::int from snapshot_artifacts a join environments e on e.org_id = a.org_id and e.id = a.environment_id
    where a.org_id = $1 and a.type <> 'unchanged' group by e.name`,
    [org.id],
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}
