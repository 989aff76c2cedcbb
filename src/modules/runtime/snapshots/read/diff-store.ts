import type { Database, Executor } from "../../../../db/connect.ts";
import {
  boolean,
  float,
  integer,
  json,
  nullable,
  type RowOf,
  text,
  texts,
  timestamp,
  uuid,
} from "../../../../db/row.ts";
import { param, query, sql } from "../../../../db/sql.ts";
import { flowsOfVersion } from "../document-sql.ts";
import { artifactsFrom, slice, type SnapshotKey } from "./store.ts";

const diffFrame = {
  timestamp,
  /** Null while it is unknown, which is so without policies. */
  compliant: nullable(boolean),
  /** Versions of the policies it was judged by. */
  policies: json<{ policy_name: string; version: number }[]>(),
};

/** Reads what a detailed difference says of a snapshot, which must exist, beside its artifacts. */
export function getDiffFrame(
  db: Executor,
  orgId: string,
  { environment_id, index }: SnapshotKey,
): Promise<RowOf<typeof diffFrame>> {
  return db.one(query("snapshot-diff-frame", diffFrame)`
    select created_at as timestamp, compliant, coalesce((
      select json_agg(json_build_object('policy_name', p ->> 'name', 'version', p -> 'version'))
      from json_array_elements(applied_policies) p), '[]') as policies
    from snapshots
    where org_id = ${orgId}::uuid and environment_id = ${environment_id}::uuid and index = ${index}::integer`);
}

/** Leaves out of a slice what has exited in the snapshot. */
const isRunning = sql`and not (a.type = 'exited' and a.first_index = s.index)`;

/** Names of pods in the JSON `running`; none outside of K8S. */
const podNames = sql`array(
  select json_object_keys(case when json_typeof(running -> 'pods') = 'object' then running -> 'pods' else '{}' end))`;

/** An artifact that runs in a snapshot, as differences are made of it. */
const runningArtifact = {
  name: text,
  fingerprint: text,
  creationTimestamp: json<number[]>(),
  pods: texts,
  flow_name: nullable(text),
  commit_url: nullable(text),
  /** Its place among all that is shown. */
  position: integer,
};
type RunningRow = RowOf<typeof runningArtifact>;

/** The same with what a detailed difference tells. */
const detailedArtifact = {
  ...runningArtifact,
  compliant: nullable(boolean),
  trail_name: nullable(text),
  artifact_id: nullable(uuid),
  template_reference_name: nullable(text),
  git_commit: nullable(text),
  commit_lead_time: nullable(float),
  follows: texts,
};
type DetailedRow = RowOf<typeof detailedArtifact>;

/** Reads slice after slice, until there is none. */
async function* slices<Row extends { position: number }>(
  read: (from: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let from = 1; ;) {
    const rows = await read(from);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    from += last.position;
  }
}

/** Reads what runs in a snapshot, some at a time; what has exited in it is left out, and comes last. */
export function listRunning(db: Database, orgId: string, key: SnapshotKey): AsyncGenerator<RunningRow[]> {
  return slices((from) => {
    const statement = query("snapshot-running", runningArtifact)`
      select name, fingerprint, running -> 'creationTimestamp' as "creationTimestamp", ${podNames} as pods,
        flows -> 0 ->> 'flow_name' as flow_name, flows -> 0 ->> 'commit_url' as commit_url, position
      from (
        select a.name, a.fingerprint, a.running, ${flowsOfVersion(param(orgId))} as flows, shown.position,
          sum(octet_length(a.running::text)) over (order by shown.position) as bytes,
          row_number() over (order by shown.position) as number
        ${artifactsFrom(orgId, key, from)} ${isRunning}) shown
      where number = 1 or bytes <= ${slice.bytes}
      order by position`;
    return db.sliced(() => db.all(statement));
  });
}

/** Reads the same in detail. The JSON of flows is taken apart once for each artifact. */
export function listRunningInDetail(
  db: Database,
  orgId: string,
  key: SnapshotKey,
): AsyncGenerator<DetailedRow[]> {
  return slices((from) => {
    const statement = query("snapshot-running-in-detail", detailedArtifact)`
      select name, fingerprint, running -> 'creationTimestamp' as "creationTimestamp", ${podNames} as pods,
        flow.flow_name, flow.commit_url, compliant, flow.trail_name, flow.artifact_id, flow.template_reference_name,
        flow.git_commit, flow.commit_lead_time, follows, position
      from (
        select a.name, a.fingerprint, a.running, ${flowsOfVersion(param(orgId))} -> 0 as built, a.compliant, a.follows, shown.position,
          sum(octet_length(a.running::text)) over (order by shown.position) as bytes,
          row_number() over (order by shown.position) as number
        ${artifactsFrom(orgId, key, from)} ${isRunning}) shown
      cross join lateral json_to_record(coalesce(shown.built, '{}')) as flow (flow_name text, trail_name text,
        artifact_id uuid, template_reference_name text, git_commit text, commit_url text, commit_lead_time float8)
      where number = 1 or bytes <= ${slice.bytes}
      order by position`;
    return db.sliced(() => db.all(statement));
  });
}
