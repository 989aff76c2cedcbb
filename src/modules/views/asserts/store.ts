import { json, nullable } from "../../../db/row.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { constant, type Parameter, param, query, type Sql, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import type { JudgedFact } from "../../../domain/snapshot/asserted.ts";
import type { FlowFact } from "../../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { withControls } from "../../process/compliance/control-sql.ts";
import { flowIdNamed } from "../../process/flows/flow-name-sql.ts";
import { meantEnvironment } from "../../runtime/environments/names-sql.ts";

/** What a flow knows of an artifact, without its commits. */
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
interface AssertEnvironment {
  name: string;
  archived: boolean;
  /** Whether it was asked for by its own present name. */
  by_name: boolean;
  policies: AssertPolicy[];
  allow_listing: AllowListing | null;
}

/** Which artifact, in all flows or in the one of this present or former name. */
export interface AssertSubject {
  fingerprint: string;
  flow_name: string | null;
}

/** The subject as parameters. */
export interface Subject {
  org: Parameter;
  fingerprint: Parameter;
  flow: Parameter;
}

/** Makes the subject parameters. */
export function subjectOf(orgId: string, { fingerprint, flow_name }: AssertSubject): Subject {
  return { org: param(orgId), fingerprint: param(fingerprint), flow: param(flow_name) };
}

/**
 * Writes the attestations that count for the artifact `known`: of those that no rule can tell apart the last one. A trail may
 * have very many. "offset 0", and "limit 1" below, keep the planner from reading all of the organization, as in the facts of
 * snapshots.
 */
const attestations = (org: Parameter): Sql => sql`(
    select coalesce(json_agg(json_build_object('name', last.name, 'type', last.type, 'is_compliant', last.is_compliant,
      'control', last.control) order by last.id), '[]')
    from (
      select distinct on (a.name, a.type, a.control) a.id, a.name, a.type, a.is_compliant, a.control
      from ${withControls(
        sql`(select * from attestations where org_id = ${org}::uuid and trail_id = known.trail_id offset 0)`,
        "known",
      )} a
      order by a.name, a.type, a.control, a.id desc) last)`;

/** Writes the artifact that each flow knows, as `known`: its last report there, with the id of the first as `first_id`. */
export const knownInFlows = ({ org, fingerprint, flow }: Subject): Sql => sql`(
      select distinct on (a.flow_id) a.id, a.filename, a.flow_id, a.trail_id, a.fingerprint, a.template_reference_name,
        a.git_commit, a.git_commit_info, first_value(a.id) over (partition by a.flow_id order by a.id) as first_id
      from (select * from artifacts where org_id = ${org}::uuid and fingerprint = ${fingerprint}::text offset 0) a
      where ${flow}::text is null or a.flow_id = ${flowIdNamed(org, flow)}
      order by a.flow_id, a.id desc
    ) as known`;

/** Flows, and bytes of what they know, up to which all of it is read at once. */
export const few = { flows: 100, bytes: 1_000_000 } as const;

/**
 * Writes what flows know of the artifact, as a JSON array of `AssertFactRow`, the flow that knew it first at first; null where that is much.
 * @param attestationsOfIt a JSON array.
 */
const factsOf = (subject: Subject, attestationsOfIt: Sql): Sql => sql`(
    select case when max(flows) is null then '[]'
      else json_agg(fact order by first_id) filter (where flows <= ${constant(few.flows)} and bytes <= ${constant(few.bytes)}) end
    from (
      select fact, first_id, count(*) over () as flows, sum(octet_length(fact::text)) over () as bytes
      from (
        select known.first_id, json_build_object('fingerprint', known.fingerprint, 'artifact_id', known.id,
          'filename', known.filename, 'flow_name', f.name, 'trail_name', t.name, 'tags', f.tags,
          'template_reference_name', known.template_reference_name,
          'trail_rows', c.status -> 'attestations_statuses', 'trail_state', c.own_state,
          'evaluated_at', coalesce(c.artifact_row -> 'evaluated_at', c.status -> 'evaluated_at'), 'artifact_row', c.artifact_row,
          'attestations', ${attestationsOfIt}) as fact
        from (select * from ${knownInFlows(subject)} order by first_id limit ${constant(few.flows + 1)}) as known
        ${rowById("flows", "f", sql`${subject.org}::uuid`, "known.flow_id")}
        ${rowById("trails", "t", sql`${subject.org}::uuid`, "known.trail_id")}
        left join lateral (
          select status, own_state, status -> 'artifacts_statuses' -> known.template_reference_name as artifact_row
          from trail_compliance where org_id = ${subject.org}::uuid and trail_id = known.trail_id limit 1) c on true
        offset 0) as one) as weighed)`;

/** Null where it is much. */
const facts = nullable(json<AssertFactRow[]>());

/** Lists what flows know of an artifact; null where that is much. One statement, as is each of the two below. */
export async function listAssertFacts(
  db: Executor,
  orgId: string,
  asked: AssertSubject,
): Promise<AssertFactRow[] | null> {
  const row = await db.one(query("assert-flows", { facts })`
    select ${factsOf(subjectOf(orgId, asked), sql`'[]'::json`)} as facts`);
  return row.facts;
}

/** Writes a JSON object of the policy `p` in its version `v`. */
const policyObject = sql`json_build_object('id', v.id, 'name', p.name, 'version', v.version)`;

/**
 * Reads what flows know of an artifact, and the environment of a name with what decides there; null when there is none of
 * this name.
 */
export function findEnvironmentCase(db: Executor, orgId: string, asked: AssertSubject, name: string) {
  const subject = subjectOf(orgId, asked);
  const { org, fingerprint } = subject;
  const columns = { facts, environment: nullable(json<AssertEnvironment>()) };
  return db.one(query("assert-environment", columns)`
    select ${factsOf(subject, attestations(org))} as facts, (
      select json_build_object('name', e.name, 'archived', e.archived, 'by_name', found.by_name, 'policies', (
          select coalesce(json_agg(${policyObject} order by a.id), '[]')
          from environment_policies a
          join policies p on p.org_id = a.org_id and p.id = a.policy_id
          join policy_versions v on v.org_id = p.org_id and v.policy_id = p.id and v.version = p.version
          where a.org_id = ${org}::uuid and a.environment_id = e.id
        ), 'allow_listing', (
          select json_build_object('id', l.id, 'created_by_id', l.created_by_id, 'timestamp', epoch(l.created_at),
            'description', l.description)
          from allowlist_entries l
          where l.org_id = ${org}::uuid and l.environment_id = e.id and l.fingerprint = ${fingerprint}::text
            and l.removed_at is null
        ))
      from ${meantEnvironment(org, param(name))} found
      join environments e on e.org_id = ${org}::uuid and e.id = found.id) as environment`);
}

/** Reads what flows know of an artifact, and those of the named policies that there are, in no order. */
export function findPolicyCase(db: Executor, orgId: string, asked: AssertSubject, names: readonly string[]) {
  const subject = subjectOf(orgId, asked);
  const { org } = subject;
  return db.one(query("assert-policies", { facts, policies: json<AssertPolicy[]>() })`
    select ${factsOf(subject, attestations(org))} as facts, (
      select coalesce(json_agg(${policyObject}), '[]')
      from unnest((select ${names}::text[])) as asked (name)
      join policies p on p.org_id = ${org}::uuid and p.name = asked.name
      join policy_versions v on v.org_id = p.org_id and v.policy_id = p.id and v.version = p.version) as policies`);
}
