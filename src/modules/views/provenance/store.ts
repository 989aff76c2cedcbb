import type { Executor } from "../../../db/connect.ts";
import { boolean, integer, nullable, oneOf, type RowOf, text, uuid } from "../../../db/row.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { constant, param, query, sql } from "../../../db/sql.ts";
import { hasValue } from "../../../db/value-number.ts";
import { complianceStates } from "../../../domain/compliance/model.ts";

/** Newest reports of a fingerprint among which those of each flow are looked for. */
const mostReports = constant(10_000);

const pictured = {
  artifact_id: uuid,
  filename: text,
  git_commit: nullable(text),
  flow_name: text,
  trail_name: text,
  trail_state: nullable(oneOf(complianceStates)),
  /** How many flows know it. */
  flow_count: integer,
};
type PicturedRow = RowOf<typeof pictured>;

/** Lists the newest report of a fingerprint in each flow, the newest flows first. Reads its newest 10,000 reports at most. */
export function listPicturedReports(
  db: Executor,
  orgId: string,
  fingerprint: string,
  limit: number,
): Promise<PicturedRow[]> {
  const org = param(orgId);
  return db.all(query("pictured-reports", pictured)`
    select known.id as artifact_id, known.filename, known.git_commit, f.name as flow_name, t.name as trail_name,
      c.state as trail_state, known.flow_count
    from (
      select newest.*, count(*) over () as flow_count from (
        select distinct on (a.flow_id) a.id, a.flow_id, a.trail_id, a.filename, a.git_commit from (
          select * from artifacts where org_id = ${org}::uuid and fingerprint = ${fingerprint}
          order by fingerprint desc, id desc limit ${mostReports}) a
        order by a.flow_id, a.id desc) newest
      order by newest.id desc limit ${limit}::bigint
    ) known
    ${rowById("flows", "f", sql`${org}::uuid`, "known.flow_id")}
    ${rowById("trails", "t", sql`${org}::uuid`, "known.trail_id")}
    left join lateral (
      select state from trail_compliance where org_id = ${org}::uuid and trail_id = known.trail_id limit 1) c on true
    order by known.id desc`);
}

const running = {
  /** As the environment's report called the artifact. */
  artifact_name: text,
  name: text,
  /** Null without policies. */
  compliant: nullable(boolean),
};
type RunningRow = RowOf<typeof running>;

/** Environments that are read, and one that tells whether there are more. */
export const mostEnvironments = 1000;

/**
 * Lists the environments that a fingerprint runs in, by name, archived and logical ones left out: 1,001 at most, found in the
 * index of what runs ("offset 0" keeps the planner from reading all that runs in their order). Of what runs there under several
 * names the worst is told.
 */
export async function listPicturedEnvironments(
  db: Executor,
  orgId: string,
  fingerprint: string,
): Promise<RunningRow[]> {
  const org = param(orgId);
  return db.all(query("pictured-environments", running)`
    select found.name, a.name as artifact_name, a.compliant
    from (
      select e.name, r.environment_id, r.id
      from (
        select distinct on (environment_id) environment_id, id
        from (
          select environment_id, id, verdict from running_artifacts
          where org_id = ${org}::uuid and fingerprint = ${fingerprint} offset 0) runs
        order by environment_id, verdict, id) r
      cross join lateral (
        select name from environments e
        where e.org_id = ${org}::uuid and e.id = r.environment_id and not e.archived and e.type <> 'logical' limit 1) e
      limit ${constant(mostEnvironments + 1)}) found
    cross join lateral (
      select name, compliant from snapshot_artifacts
      where org_id = ${org}::uuid and environment_id = found.environment_id and id = found.id limit 1) a
    order by found.name`);
}

/** Finds the name that a fingerprint last ran under; undefined when it never did. */
export async function findRunName(
  db: Executor,
  orgId: string,
  fingerprint: string,
): Promise<string | undefined> {
  const org = param(orgId);
  const row = await db.first(query("pictured-name", { name: text })`
    select a.name from snapshot_artifacts a where a.org_id = ${org}::uuid and ${hasValue(org, "a", "fingerprint", sql`${param(fingerprint)}::text`)}
    order by value_number(a.org_id, a.fingerprint) desc, a.created_at desc limit 1`);
  return row?.name;
}
