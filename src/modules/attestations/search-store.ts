import type { PreparedExecutor, PreparedStatement } from "../../db/connect.ts";
import {
  attestationObject,
  flowNamed,
  itsEvidence,
  type ReadScope,
  selfPath,
  type UrlBases,
} from "./attestation-json.ts";

/**
 * Parameters of searches: $1 organization, $2 its name, $3 and $4 bases of URLs, $5 names of flows, $6 names, $7 types,
 * $8 verdict, $9 and $10 first and last moment as Unix seconds, $11 the attestation the page comes after, $12 how many,
 * $13 the only attestation wanted, where there is one. Null is no filter.
 */

/** Items of a page at most, and one to tell whether there are more. */
const largestPage = 101;

/** Flows of these names, former ones included, as long as no other flow took them. */
const flowsNamed = (names: string): string => `(
  select distinct ${flowNamed("named.name")} from unnest(${names}::text[]) as named (name))`;

/** Where the page begins: right after an attestation, whose moment is looked up, or at the last moment wanted. */
const start = `"start" (at, id) as materialized (
    select least(c.created_at, to_timestamp($10::float8)), case when c.created_at <= to_timestamp($10::float8)
      then c.id else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end
    from (select null::timestamptz as created_at, null::uuid as id where $11::uuid is null
      union all select a.created_at, a.id from attestations a where a.org_id = $1 and a.id = $11::uuid) c)`;
const [startMoment, startId] = ['(select at from "start")', '(select id from "start")'];

const filters = `($5::text[] is null or a.flow_id = any (array${flowsNamed("$5")}))
  and ($6::text[] is null or a.name = any ($6::text[]))
  and ($7::text[] is null or a.type = any ($7::text[]))
  and ($8::boolean is null or a.is_compliant = $8::boolean)`;

/**
 * The first rows in an order. The limit stands there twice because the planner cannot see the value of a parameter: only
 * from a constant it learns that so few rows are wanted that an index in their order serves best.
 */
function first(rows: string, order: string): string {
  return `select * from (${rows} order by ${order} limit ${largestPage}) s limit $12::bigint`;
}

/** The first of all matches, off the index by time or a part of it. */
function matching(more: string): string {
  return first(
    `select a.id, a.created_at from attestations a
      where a.org_id = $1 and (a.created_at, a.id) < (${startMoment}, ${startId})
        and a.created_at >= to_timestamp($9::float8) and ${filters} and ${more}`,
    "a.created_at desc, a.id desc",
  );
}

/**
 * The first matches with each of some values, merged. The value stands in rows that are compared, and in the order, so
 * that no index but the value's own will do, and that it is read from the very start of the page: with an equation the
 * planner takes the index by time for as good wherever it takes the value for frequent.
 */
function merged(values: string, column: string): string {
  const withValue = first(
    `select a.id, a.created_at from attestations a
      where a.org_id = $1 and (a.${column}, a.created_at, a.id) < (wanted.value, ${startMoment}, ${startId})
        and (a.${column}, a.created_at) >= (wanted.value, to_timestamp($9::float8)) and ${filters}`,
    `a.${column} desc, a.created_at desc, a.id desc`,
  );
  return first(
    `select m.* from unnest(array${values}) as wanted (value) cross join lateral (${withValue}) m`,
    "m.created_at desc, m.id desc",
  );
}

const byName = "(select distinct unnest($6::text[]))";
const byType = "(select distinct unnest($7::text[]))";

/** What the attestation object takes beside `a`. */
const joined = `join flows f on f.org_id = a.org_id and f.id = a.flow_id
  join trails t on t.org_id = a.org_id and t.id = a.trail_id ${itsEvidence}`;

function search(name: string, found: string): PreparedStatement {
  return {
    name: `attestations-by-${name}`,
    text: `
      with ${start}, page as materialized (${found})
      select wire_id(a.id) as id, ${attestationObject(selfPath)} as text
      from page p join attestations a on a.org_id = $1 and a.id = p.id ${joined}
      order by p.created_at desc, p.id desc`,
  };
}

// A flow's attestations have the names and types of its template, so a flow narrows a search down best.
const searches = {
  id: search("id", matching("a.id = $13::uuid")),
  flow: search("flow", merged(flowsNamed("$5"), "flow_id")),
  name: search("name", merged(byName, "name")),
  type: search("type", merged(byType, "type")),
  verdict: search("verdict", matching("not a.is_compliant")),
  time: search("time", matching("true")),
};

/** What attestations are searched by; what is undefined does not matter. */
export interface AttestationSearch {
  id?: string | undefined;
  /** Any of these; so below. */
  flows?: string[] | undefined;
  names?: string[] | undefined;
  types?: string[] | undefined;
  is_compliant?: boolean | undefined;
  /** Inclusive, Unix seconds; so below. */
  from?: number | undefined;
  to?: number | undefined;
  /** Id of the attestation to go on after. */
  after?: string | undefined;
  limit: number;
}

/** An attestation as JSON text, with its wire id. */
export interface FoundAttestation {
  id: string;
  text: string;
}

const endOfTime = 253_402_300_800;

function statementFor(wanted: AttestationSearch): PreparedStatement {
  if (wanted.id !== undefined) return searches.id;
  if (wanted.flows !== undefined) return searches.flow;
  if (wanted.names !== undefined) return searches.name;
  if (wanted.types !== undefined) return searches.type;
  return wanted.is_compliant === false ? searches.verdict : searches.time;
}

/** Attestations that match everything that is searched by, newest first. At most 101. */
export function searchAttestations(
  db: PreparedExecutor,
  org: ReadScope,
  urls: UrlBases,
  wanted: AttestationSearch,
): Promise<FoundAttestation[]> {
  const { flows = null, names = null, types = null, is_compliant = null } = wanted;
  const { from = 0, to = endOfTime, after = null, limit } = wanted;
  const values: unknown[] = [org.id, org.name, urls.api, urls.web, flows, names, types, is_compliant];
  values.push(from, to, after, limit);
  if (wanted.id !== undefined) values.push(wanted.id);
  return db.prepared<FoundAttestation & Record<string, unknown>>(statementFor(wanted), values);
}

const namesInUse: PreparedStatement = {
  name: "attestation-names",
  text: `
    with recursive names (name) as (
      (select a.name from attestations a where a.org_id = $1 order by a.name limit 1)
      union all
      select (select a.name from attestations a where a.org_id = $1 and a.name > n.name order by a.name limit 1)
      from names n where n.name is not null
    )
    select name from names where name is not null limit $2::bigint`,
};

/** The names that an organization's attestations have, sorted; no more than a limit. Reads one row of an index each. */
export async function listAttestationNames(
  db: PreparedExecutor,
  orgId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.prepared<{ name: string }>(namesInUse, [orgId, limit]);
  return rows.map(({ name }) => name);
}

const ofCommits: PreparedStatement = {
  name: "attestations-of-commits",
  text: `
    select wanted.sha, coalesce('[' || (
      select string_agg(${attestationObject(selfPath)}, ',' order by a.created_at, a.id)
      from attestations a ${joined}
      where a.org_id = $1 and a.git_commit = wanted.sha
        and ($6::text is null or a.flow_id in ${flowsNamed("array[$6::text]")})
        and ($7::text is null or a.name = $7::text)
        and ($8::text is null or a.type = $8::text)
    ) || ']', '[]') as list
    from unnest($5::text[]) as wanted (sha)`,
};

/** What attestations of commits have to be like; null does not matter. */
export interface CommitCriteria {
  flow: string | null;
  name: string | null;
  type: string | null;
}

/** For each commit its attestations, oldest first, as the text of a JSON array. */
export function listAttestationsOfCommits(
  db: PreparedExecutor,
  org: ReadScope,
  urls: UrlBases,
  wanted: CommitCriteria & { commits: string[] },
): Promise<{ sha: string; list: string }[]> {
  const { commits, flow, name, type } = wanted;
  const values = [org.id, org.name, urls.api, urls.web, commits, flow, name, type];
  return db.prepared<{ sha: string; list: string }>(ofCommits, values);
}

const inFlow = `a.org_id = $1 and a.flow_id = $5::uuid
  and a.created_at >= to_timestamp($6::float8) and a.created_at <= to_timestamp($7::float8)`;

const ofFlow: PreparedStatement = {
  name: "attestations-of-flow",
  text: `
    with page as materialized (
      select * from (
        select a.id, a.created_at from attestations a where ${inFlow}
        order by a.created_at desc, a.id desc limit ${largestPage} offset $9::bigint) s
      limit $8::bigint)
    select (select count(*) from attestations a where ${inFlow}) as total,
      coalesce('[' || (
        select string_agg(${attestationObject(selfPath)}, ',' order by p.created_at desc, p.id desc)
        from page p join attestations a on a.org_id = $1 and a.id = p.id ${joined}
      ) || ']', '[]') as list`,
};

/** A part of a flow's attestations, newest first. */
export interface FlowPage {
  flow_id: string;
  from?: number | undefined;
  to?: number | undefined;
  limit: number;
  offset: number;
}

/** The part as the text of a JSON array, and how many there are in all. */
export async function listFlowAttestations(
  db: PreparedExecutor,
  org: ReadScope,
  urls: UrlBases,
  page: FlowPage,
): Promise<{ total: number; list: string }> {
  const span = [page.from ?? 0, page.to ?? endOfTime];
  const values = [org.id, org.name, urls.api, urls.web, page.flow_id, ...span, page.limit, page.offset];
  const [row] = await db.prepared<{ total: number; list: string }>(ofFlow, values);
  return row!;
}
