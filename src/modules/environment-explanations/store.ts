import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { PolicyDecision } from "../../domain/policy/evaluation/model.ts";
import type { Evidence } from "../../domain/snapshot/explain.ts";
import type { SnapshotFlow } from "../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { groupBy } from "../../lib/group.ts";

/** What ran, as a snapshot recorded it. */
export interface RecordedRow {
  name: string;
  fingerprint: string;
  compliant: boolean | null;
  allow_listed: boolean;
  policy_decisions: PolicyDecision[];
  flows: Pick<SnapshotFlow, "trail_id" | "template_reference_name" | "git_commit">[];
}

/** A snapshot as it was judged. */
export interface JudgedSnapshot {
  timestamp: Timestamp;
  compliant: boolean | null;
  type: string;
  applied_policies: { name: string; version: number; failing_artifacts: string[] }[];
  artifacts: RecordedRow[];
}

/** A snapshot that exists, with what ran in it in the order in which that is shown. */
export async function getJudgedSnapshot(
  db: Executor,
  orgId: string,
  { environment_id, index }: { environment_id: string; index: number },
): Promise<JudgedSnapshot> {
  const { rows } = await sql<JudgedSnapshot>`
    select s.created_at as timestamp, s.compliant, s.type, s.applied_policies, (
      select coalesce(json_agg(json_build_object('name', a.name, 'fingerprint', a.fingerprint,
        'compliant', a.compliant, 'allow_listed', coalesce((d.doc ->> 'allow_listed')::boolean, false),
        'policy_decisions', decisions_in(a.doc, shared.decisions), 'flows', a.flows) order by shown.position), '[]')
      from unnest(s.artifacts) with ordinality as shown (id, position)
      join snapshot_artifacts a on a.org_id = s.org_id and a.environment_id = s.environment_id and a.id = shown.id
      join snapshot_decisions shared
        on shared.org_id = a.org_id and shared.environment_id = a.environment_id and shared.digest = a.decisions_digest
      cross join lateral (
        select replace(replace(regexp_replace(a.doc, E'\\x03.*\\x03', 'null'), E'\\x01', ''), E'\\x02', 'null')::json
          as doc) d
      where a.type <> 'exited') as artifacts
    from snapshots s
    where s.org_id = ${orgId}::uuid and s.environment_id = ${environment_id}::uuid and s.index = ${index}::integer`.execute(
    db,
  );
  return rows[0]!;
}

/** An artifact on its trail in a flow. */
export interface EvidencePlace {
  trail_id: string;
  fingerprint: string;
  template_reference_name: string;
  git_commit: string | null;
}

/** The attestations that count for artifacts on their trails, by the place in the list asked about, in order. */
export async function listEvidence(
  db: Executor,
  orgId: string,
  places: readonly EvidencePlace[],
): Promise<Map<number, Evidence[]>> {
  const asked = JSON.stringify(places.map((each, place) => ({ ...each, place })));
  const { rows } = await sql<Evidence & { place: number }>`
    select p.place, a.id as attestation_id, a.name, a.type, a.is_compliant, a.is_override,
      a.control_identifier as control, a.created_at as reported_at
    from json_to_recordset(${asked}::json) as p (place integer, trail_id uuid, fingerprint text,
      template_reference_name text, git_commit text)
    cross join lateral (
      select * from attestations where org_id = ${orgId}::uuid and trail_id = p.trail_id offset 0) a
    where case when a.artifact_fingerprint is not null then a.artifact_fingerprint = p.fingerprint
      when cardinality(a.target_artifacts) > 0
        then p.template_reference_name = any(a.target_artifacts) and a.git_commit = p.git_commit
      else true end
    order by p.place, a.id`.execute(db);
  return groupBy(rows, ({ place }) => place);
}

/** What the members of a logical environment are worth now, in their order. */
export async function listMemberStates(
  db: Executor,
  orgId: string,
  environmentId: string,
): Promise<{ name: string; state: boolean | null }[]> {
  return db
    .selectFrom("environment_members as m")
    .innerJoin("environments as e", (join) =>
      join.onRef("e.org_id", "=", "m.org_id").onRef("e.id", "=", "m.member_id"),
    )
    .select(["e.name", "e.state"])
    .where("m.org_id", "=", orgId)
    .where("m.logical_id", "=", environmentId)
    .orderBy("m.position")
    .execute();
}
