import type { Executor } from "../../../db/connect.ts";
import { integer, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, param, query } from "../../../db/sql.ts";
import type { Written } from "../../../domain/changes.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** Rows of the audit log that are read at a time, of one organization. */
export const mostEntries = 5_000;

/** Things of one kind that are read at a time: one more than are named. */
const mostOfKind = 51;

/** Reads how far the audit logs of organizations have come: a lookup each by key. What is not there is left out. */
export async function listAuditHeads(db: Executor, orgIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.all(
    query("audit-heads", { org_id: uuid, audit_seq: integer }, { pipelined: true })`
      select org_id, audit_seq from org_counters where org_id = any(${orgIds}::uuid[])`,
  );
  return new Map(rows.map(({ org_id, audit_seq }) => [org_id, audit_seq]));
}

/**
 * Lists what was written between two places of an organization's audit log, at most `mostEntries` apart: each thing once, in the
 * order of the last time, and of each kind only so many that one sees that there are too many. Reads a range of the log's
 * key, whatever the size of the log.
 */
export function listWritten(
  db: Executor,
  orgId: string,
  { after, until }: { after: number; until: number },
): Promise<Written[]> {
  return db.all(query("written-since", { resource_type: text, resource: text })`
    select resource_type, resource
    from (
      select resource_type, resource, max(seq) as last,
        row_number() over (partition by resource_type order by max(seq) desc) as nth
      from audit_log where org_id = ${orgId} and seq > ${after} and seq <= ${until}
      group by resource_type, resource
    ) written
    where nth <= ${mostOfKind}
    order by last`);
}

const reported = { flow_name: text, trail_name: text, fingerprint: nullable(text) };

/** Finds the trails, and the artifacts if any, that these attestations are on: a lookup each by key. */
export function listAttestationPlaces(
  db: Executor,
  orgId: string,
  attestationIds: readonly string[],
): Promise<RowOf<typeof reported>[]> {
  const org = param(orgId);
  return db.all(query("attestation-places", reported)`
    select f.name as flow_name, t.name as trail_name, a.artifact_fingerprint as fingerprint
    from unnest((select ${attestationIds}::uuid[])) as wanted (id)
    join attestations a on a.org_id = ${org} and a.id = wanted.id
    join trails t on t.org_id = ${org} and t.id = a.trail_id
    join flows f on f.org_id = ${org} and f.id = a.flow_id`);
}

/** Finds the trails that artifacts were last reported on: the latest few reports of each, by an index in that order. */
export function listArtifactPlaces(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<{ flow_name: string; trail_name: string }[]> {
  const org = param(orgId);
  return db.all(query("artifact-places", { flow_name: text, trail_name: text })`
    select f.name as flow_name, t.name as trail_name
    from unnest((select ${fingerprints}::text[])) as wanted (fingerprint)
    cross join lateral (
      select flow_id, trail_id from artifacts where org_id = ${org} and fingerprint = wanted.fingerprint
      order by id desc limit 5) a
    join trails t on t.org_id = ${org} and t.id = a.trail_id
    join flows f on f.org_id = ${org} and f.id = a.flow_id`);
}

/** Finds the logical environments that contain one of these. */
export async function listGroupNames(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  const org = param(orgId);
  const rows = await db.all(query("groups-of-environments", { name: text })`
    select distinct g.name
    from unnest((select ${names}::text[])) as wanted (name)
    join environments e on e.org_id = ${org} and e.name = wanted.name
    join environment_members m on m.org_id = ${org} and m.member_id = e.id
    join environments g on g.org_id = ${org} and g.id = m.logical_id`);
  return rows.map(({ name }) => name);
}

const silence = { environment_name: text, began_at: timestamp, ended_at: nullable(timestamp) };

/** A silence that began or ended. */
export type SilenceNews = RowOf<typeof silence>;

/** Lists silences that were noticed or ended since a moment, a thousand at most: by an index of each. */
export function listSilencesSince(db: Executor, orgId: string, since: Timestamp): Promise<SilenceNews[]> {
  const [org, from] = [param(orgId), moment(since)];
  return db.all(query("silences-since", silence)`
    select e.name as environment_name, s.began_at, s.ended_at
    from (
      (select environment_id, began_at, ended_at from environment_silences
        where org_id = ${org} and noticed_at >= ${from} order by noticed_at limit 1000)
      union
      (select environment_id, began_at, ended_at from environment_silences
        where org_id = ${org} and ended_at >= ${from} order by ended_at limit 1000)
    ) s
    join environments e on e.org_id = ${org} and e.id = s.environment_id`);
}
