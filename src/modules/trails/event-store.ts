import { type RawBuilder, sql } from "kysely";

import type { Database, Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { repoInEvent } from "./repo-in-event.ts";

/** An event of a trail. `data` holds what is particular to its type, and `git_commit_info`. */
export interface TrailEventRow {
  type: string;
  occurred_at: Timestamp;
  data: unknown;
  /** JSON text of the repo it came from, whose `additional_info` an object would not keep as it was written. */
  repo_info: string | null;
}

/** What is told of an artifact `a`. */
const artifactData = sql`json_build_object('git_commit_info', a.git_commit_info, 'artifact_fingerprint', a.fingerprint,
  'artifact_name', a.filename, 'artifact_id', wire_id(a.id), 'template_reference_name', a.template_reference_name,
  'git_commit', a.git_commit)`;

/** What the event of an attestation `a`, with its `target`, is called. */
const attestationType = sql`case when a.artifact_fingerprint is not null then 'artifact_attestation_reported'
  when a.target is not null then 'trail_attestation_for_artifact_reported' else 'trail_attestation_reported' end`;

/** What is told of an attestation `a` with its `target`. Artifacts are found by their fingerprint, of which there are few. */
function attestationData(isAgain: RawBuilder<unknown>) {
  return sql`(jsonb_build_object('git_commit_info', a.git_commit_info, 'attestation_type', a.type,
      'is_compliant', a.is_compliant, 'attestation_id', wire_id(a.id), 'template_reference_name', a.name,
      'is_reattestation', ${isAgain})
    || jsonb_strip_nulls(jsonb_build_object('artifact_fingerprint', a.artifact_fingerprint, 'artifact_name', (
        select r.filename from (
          select * from artifacts where org_id = a.org_id and fingerprint = a.artifact_fingerprint offset 0) r
        where r.trail_id = a.trail_id order by r.id < a.id desc, r.id desc limit 1),
      'target_artifact', a.target)))::json`;
}

/** Reports of artifacts, each an event. */
function artifactEvents(orgId: string, trailId: string) {
  return sql`
    select a.created_at as occurred_at, a.id, 1::bigint as part, 'artifact_creation_reported' as type,
      ${artifactData} as data, ${repoOf("a")} as repo_info
    from artifacts a where a.org_id = ${orgId} and a.trail_id = ${trailId}`;
}

function repoOf(alias: string) {
  const { org, repo } = { org: sql.ref(`${alias}.org_id`), repo: sql.ref(`${alias}.repo_id`) };
  return sql`(select ${repoInEvent} from repos r where r.org_id = ${org} and r.id = ${repo})`;
}

/**
 * Attestations: one event each, and one for each artifact that one without a fingerprint was made for. An attestation is
 * a reattestation when its name was attested in the same place before.
 */
function attestationEvents(orgId: string, trailId: string) {
  return sql`
    select a.created_at, a.id, coalesce(a.position, 1) as part,
      ${attestationType} as type, ${attestationData(sql`row_number() over (
          partition by a.name, a.artifact_fingerprint,
            case when a.artifact_fingerprint is null then a.target end
          order by a.id) > 1`)} as data, ${repoOf("a")} as repo_info
    from (
      select a.*, target.name as target, target.position from attestations a
      left join unnest(case when a.artifact_fingerprint is null then a.target_artifacts
        else a.target_artifacts[1:1] end) with ordinality as target (name, position) on true
      where a.org_id = ${orgId} and a.trail_id = ${trailId}) a`;
}

/** Everything that happened to a trail and was reported on it, as SQL; ordered by `occurred_at, id, part`. */
export function everyTrailEvent(orgId: string, trailId: string) {
  return sql`
    select e.occurred_at, e.id, 1::bigint as part, e.type, e.data,
      e.data -> 'repo_info' as repo_info
    from trail_events e where e.org_id = ${orgId} and e.trail_id = ${trailId}
    union all ${artifactEvents(orgId, trailId)}
    union all ${attestationEvents(orgId, trailId)}`;
}

/** Everything that happened to a short trail and was reported on it, in the order in which it happened. */
export async function listTrailEvents(
  db: Executor,
  orgId: string,
  trailId: string,
): Promise<TrailEventRow[]> {
  const { rows } = await sql<TrailEventRow>`/* trail-events */
    select occurred_at, type, data, repo_info::text as repo_info from (${everyTrailEvent(orgId, trailId)}) e
    order by occurred_at, id, part`.execute(db);
  return rows;
}

/** Characters of a key: what kind of row, its id, whether it is a reattestation, and its part. */
const keyLength = 1 + 36 + 1 + 6;

/** The events of a trail by their keys, as one text in their order: few bytes for each, whatever is told of it. */
export async function listEventKeys(db: Executor, orgId: string, trailId: string): Promise<string> {
  const { rows } = await sql<{ keys: string }>`
    select coalesce(string_agg(kind || id::text || flag || lpad(part::text, 6, '0'), ''
      order by occurred_at, id, part), '') as keys
    from (
      select occurred_at, id, 1::bigint as part, 'e' as kind, '0' as flag
      from trail_events where org_id = ${orgId} and trail_id = ${trailId}
      union all
      select created_at, id, 1, 'a', '0' from artifacts where org_id = ${orgId} and trail_id = ${trailId}
      union all
      select a.created_at, a.id, coalesce(target.position, 1), 's', case when row_number() over (
          partition by a.name, a.artifact_fingerprint,
            case when a.artifact_fingerprint is null then target.name end
          order by a.id) > 1 then '1' else '0' end
      from attestations a
      left join unnest(case when a.artifact_fingerprint is null then a.target_artifacts
        else a.target_artifacts[1:1] end) with ordinality as target (name, position) on true
      where a.org_id = ${orgId} and a.trail_id = ${trailId}) e`.execute(db);
  return rows[0]!.keys;
}

/** Events read at a time: so many, and of so many bytes, the first one whatever it weighs. */
const slice = { rows: 200, bytes: 256 * 1024 };

/** The events of a trail by their keys, some at a time: what is told of most of them never changes. */
export async function* listKeyedEvents(
  db: Database,
  orgId: string,
  trailId: string,
  keys: string,
): AsyncGenerator<TrailEventRow[]> {
  for (let from = 0; from < keys.length;) {
    const asked = keys.slice(from, from + slice.rows * keyLength);
    const statement = sql<TrailEventRow>`/* trail-events-slice */
      select occurred_at, type, data, repo_info::text as repo_info from (
        select e.*, asked.n, sum(pg_column_size(e.data)) over (order by asked.n) as bytes
        from (select ${asked}::text as keys) given
        cross join lateral generate_series(0, length(keys) / ${sql.lit(keyLength)} - 1) as n
        cross join lateral (select substr(keys, n * ${sql.lit(keyLength)} + 1, ${sql.lit(keyLength)}) as key) each
        cross join lateral (
          select n, left(key, 1) as kind, substr(key, 2, 36)::uuid as id, substr(key, 38, 1) = '1' as again,
            substr(key, 39)::integer as part) asked
        cross join lateral (${keyedEvent(orgId, trailId)}) e
      ) shown
      where n = 0 or bytes <= ${sql.lit(slice.bytes)}
      order by n`;
    const { rows } = await db.sliced(() => statement.execute(db.query));
    yield rows;
    from += rows.length * keyLength;
  }
}

/** The event that `asked` names. */
function keyedEvent(orgId: string, trailId: string) {
  return sql`
    select e.occurred_at, e.type, e.data::json as data, (e.data -> 'repo_info')::json as repo_info from trail_events e
    where asked.kind = 'e' and e.org_id = ${orgId} and e.trail_id = ${trailId} and e.id = asked.id
    union all
    select a.created_at, 'artifact_creation_reported', ${artifactData}, ${repoOf("a")} from artifacts a
    where asked.kind = 'a' and a.org_id = ${orgId} and a.id = asked.id
    union all
    select a.created_at, ${attestationType}, ${attestationData(sql`asked.again`)}, ${repoOf("a")}
    from (
      select a.*, a.target_artifacts[asked.part] as target from attestations a
      where asked.kind = 's' and a.org_id = ${orgId} and a.id = asked.id) a`;
}
