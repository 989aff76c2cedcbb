import type { PreparedExecutor, PreparedStatement } from "../../db/connect.ts";
import type { JudgedFact } from "../../domain/snapshot/asserted.ts";
import type { FlowFact } from "../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** What a flow knows of an artifact. Commits are left out. */
export type AssertFactRow = Pick<
  FlowFact,
  | "fingerprint"
  | "artifact_id"
  | "flow_name"
  | "trail_name"
  | "tags"
  | "template_reference_name"
  | "attestations"
> &
  Omit<JudgedFact, "compliance_state"> & {
    /** As it was reported last; policies know artifacts by this name. */
    filename: string;
    evaluated_at: Timestamp | null;
  };

/** The same, judged. */
export type AssertFact = AssertFactRow & JudgedFact;

/** The latest version of a policy, to judge by. */
export interface AssertPolicy {
  /** Of the version. */
  id: string;
  name: string;
  version: number;
}

/** Why an artifact is trusted in an environment. */
export interface AllowListing {
  id: string;
  created_by_id: string | null;
  timestamp: Timestamp;
  description: string;
}

/** An environment as far as asserts need it. */
export interface AssertEnvironment {
  name: string;
  archived: boolean;
  /** Whether it was asked for by its own present name. */
  by_name: boolean;
  policies: AssertPolicy[];
  allow_listing: AllowListing | null;
}

// "offset 0" and "limit 1" keep the planner from reading all of the organization, as in the facts of snapshots.
const attestations = `(
    select coalesce(json_agg(json_build_object('name', a.name, 'type', a.type, 'is_compliant', a.is_compliant,
      'control', a.control_identifier) order by a.id), '[]')
    from (select * from attestations where org_id = $1::uuid and trail_id = known.trail_id offset 0) a
    where case when a.artifact_fingerprint is not null then a.artifact_fingerprint = known.fingerprint
      when cardinality(a.target_artifacts) > 0
        then known.template_reference_name = any(a.target_artifacts) and a.git_commit = known.git_commit
      else true end)`;

/** SQL for what flows know of fingerprint $2, all flows or that of the name $3, the one that knew it first at first. */
function factsOf(withAttestations: boolean): string {
  return `(
    select coalesce(json_agg(json_build_object('fingerprint', known.fingerprint, 'artifact_id', known.id,
      'filename', known.filename, 'flow_name', f.name, 'trail_name', t.name, 'tags', f.tags,
      'template_reference_name', known.template_reference_name,
      'trail_rows', c.status -> 'attestations_statuses', 'trail_state', c.own_state, 
      'evaluated_at', coalesce(c.status -> 'artifacts_statuses' -> known.template_reference_name -> 'evaluated_at',
        c.status -> 'evaluated_at'),
      'artifact_row', c.status -> 'artifacts_statuses' -> known.template_reference_name,
      'attestations', ${withAttestations ? attestations : "'[]'::json"}) order by known.first_id), '[]')
    from (
      select distinct on (a.flow_id) a.id, a.filename, a.flow_id, a.trail_id, a.fingerprint, a.template_reference_name,
        a.git_commit, first_value(a.id) over (partition by a.flow_id order by a.id) as first_id
      from (select * from artifacts where org_id = $1::uuid and fingerprint = $2::text offset 0) a
      order by a.flow_id, a.id desc
    ) as known
    cross join lateral (select name, tags from flows where org_id = $1::uuid and id = known.flow_id limit 1) f
    cross join lateral (select name from trails where org_id = $1::uuid and id = known.trail_id limit 1) t
    left join lateral (
      select status, own_state from trail_compliance where org_id = $1::uuid and trail_id = known.trail_id limit 1) c on true
    where $3::text is null or f.name = $3::text or known.flow_id = (
      select former.flow_id from flow_former_names former
      where former.org_id = $1::uuid and former.name = $3::text
        and not exists (select from flows named where named.org_id = $1::uuid and named.name = $3::text))
  )`;
}

const flowsStatement: PreparedStatement = {
  name: "assert-flows",
  text: `select ${factsOf(false)} as facts`,
};

const environmentStatement: PreparedStatement = {
  name: "assert-environment",
  text: `select ${factsOf(true)} as facts, (
      select json_build_object('name', e.name, 'archived', e.archived, 'by_name', found.by_name, 'policies', (
          select coalesce(json_agg(json_build_object('id', v.id, 'name', p.name, 'version', v.version) order by a.id), '[]')
          from environment_policies a
          join policies p on p.org_id = a.org_id and p.id = a.policy_id
          join policy_versions v on v.org_id = p.org_id and v.policy_id = p.id and v.version = p.version
          where a.org_id = $1::uuid and a.environment_id = e.id
        ), 'allow_listing', (
          select json_build_object('id', l.id, 'created_by_id', l.created_by_id, 'timestamp', epoch(l.created_at),
            'description', l.description)
          from allowlist_entries l
          where l.org_id = $1::uuid and l.environment_id = e.id and l.fingerprint = $2::text and l.removed_at is null
        ))
      from find_environment($1::uuid, $4::text) found
      join environments e on e.org_id = $1::uuid and e.id = found.id) as environment`,
};

const policiesStatement: PreparedStatement = {
  name: "assert-policies",
  text: `select ${factsOf(true)} as facts, (
      select coalesce(json_agg(json_build_object('id', v.id, 'name', p.name, 'version', v.version)), '[]')
      from unnest($4::text[]) as asked (name)
      join policies p on p.org_id = $1::uuid and p.name = asked.name
      join policy_versions v on v.org_id = p.org_id and v.policy_id = p.id and v.version = p.version) as policies`,
};

/** Which artifact, in all flows or in the one of this present or former name. */
export interface AssertSubject {
  fingerprint: string;
  flow_name: string | null;
}

/** What flows know of an artifact: one statement, like the two below. */
export async function listAssertFacts(
  db: PreparedExecutor,
  orgId: string,
  { fingerprint, flow_name }: AssertSubject,
): Promise<AssertFactRow[]> {
  const values = [orgId, fingerprint, flow_name];
  const [row] = await db.prepared<{ facts: AssertFactRow[] }>(flowsStatement, values);
  return row!.facts;
}

/** The same, with an environment and what decides there; null when there is none of this name. */
export async function findEnvironmentCase(
  db: PreparedExecutor,
  orgId: string,
  { fingerprint, flow_name }: AssertSubject,
  environment: string,
): Promise<{ facts: AssertFactRow[]; environment: AssertEnvironment | null }> {
  const values = [orgId, fingerprint, flow_name, environment];
  const [row] = await db.prepared<{ facts: AssertFactRow[]; environment: AssertEnvironment | null }>(
    environmentStatement,
    values,
  );
  return row!;
}

/** The same, with those of the named policies that there are, in no order. */
export async function findPolicyCase(
  db: PreparedExecutor,
  orgId: string,
  { fingerprint, flow_name }: AssertSubject,
  policies: readonly string[],
): Promise<{ facts: AssertFactRow[]; policies: AssertPolicy[] }> {
  const values = [orgId, fingerprint, flow_name, policies];
  const [row] = await db.prepared<{ facts: AssertFactRow[]; policies: AssertPolicy[] }>(
    policiesStatement,
    values,
  );
  return row!;
}
