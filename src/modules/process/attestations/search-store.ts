import { heavyRows, isHeavy, type PageText, pageOf, pageText } from "../../../db/heavy-page.ts";
import { integer, nullable, type RowOf, text } from "../../../db/row.ts";
import { constant, param, type Parameter, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import type { Org } from "../../../domain/principal.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { flowIdNamed } from "../flows/flow-name-sql.ts";
import {
  artifactPath,
  attestationBytes,
  attestationObject,
  itsEvidence,
  readParameters,
  selfPath,
  type Showing,
  trailPath,
} from "./attestation-sql.ts";

/** Items of a page at most, and one to tell whether there are more. */
const largestPage = constant(101);

const endOfTime = 253_402_300_800;

/** What attestations are searched by; what is undefined does not matter. */
export interface AttestationSearch {
  id?: string | undefined;
  /** Ids; any of these, and so below. */
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

/** Makes the parameters of a search. Null is no filter. */
function searchParameters(org: Org, how: Showing, wanted: AttestationSearch) {
  return {
    ...readParameters(org, how),
    id: param(wanted.id ?? null),
    flows: param(wanted.flows ?? null),
    names: param(wanted.names ?? null),
    types: param(wanted.types ?? null),
    is_compliant: param(wanted.is_compliant ?? null),
    from: param(wanted.from ?? 0),
    to: param(wanted.to ?? endOfTime),
    after: param(wanted.after ?? null),
    limit: param(wanted.limit),
  };
}

type SearchParameters = ReturnType<typeof searchParameters>;

/** Where the page begins: right after an attestation, whose moment is looked up, or at the last moment wanted. */
function start({ org_id, to, after }: SearchParameters): Sql {
  return sql`"start" (at, id) as materialized (
    select least(c.created_at, to_timestamp(${to}::float8)), case when c.created_at <= to_timestamp(${to}::float8)
      then c.id else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end
    from (select null::timestamptz as created_at, null::uuid as id where ${after}::uuid is null
      union all select a.created_at, a.id from attestations a where a.org_id = ${org_id} and a.id = ${after}::uuid) c)`;
}
const [startMoment, startId] = [sql`(select at from "start")`, sql`(select id from "start")`];

function filters({ flows, names, types, is_compliant }: SearchParameters): Sql {
  return sql`(${flows}::uuid[] is null or a.flow_id = any (${flows}::uuid[]))
  and (${names}::text[] is null or a.name = any (${names}::text[]))
  and (${types}::text[] is null or a.type = any (${types}::text[]))
  and (${is_compliant}::boolean is null or a.is_compliant = ${is_compliant}::boolean)`;
}

/**
 * Takes the first rows in an order. The limit stands there twice because the planner cannot see a parameter's value
 * (`db/sql.ts`): only from a constant it learns that so few rows are wanted that an index in their order serves best.
 */
function first({ limit }: SearchParameters, rows: Sql, order: Sql): Sql {
  return sql`select * from (${rows} order by ${order} limit ${largestPage}) s limit ${limit}::bigint`;
}

/** Finds the first of all matches, off the index by time or a part of it. */
function matching(search: SearchParameters, more: Sql): Sql {
  return first(
    search,
    sql`select a.id, a.created_at from attestations a
      where a.org_id = ${search.org_id} and (a.created_at, a.id) < (${startMoment}, ${startId})
        and a.created_at >= to_timestamp(${search.from}::float8) and ${filters(search)} and ${more}`,
    sql`a.created_at desc, a.id desc`,
  );
}

/** A column of attestations with an index of its own, from the column on in order of time, and how it has a value. */
interface Indexed {
  column: Sql;
  /** Writes SQL for what stands in the index for a value. */
  key: (value: Sql) => Sql;
}

/** A text, for which a number stands in the index. That another text has it, too, is left to the filters. */
function numbered(column: Sql, { org_id }: SearchParameters): Indexed {
  const key = (value: Sql): Sql => sql`value_number(${org_id}, ${value})`;
  return { column: sql`value_number(a.org_id, ${column})`, key };
}

/**
 * Finds the first matches with each of some values, merged. The value stands in rows that are compared, and in the order,
 * so that no index but the value's own will do, and that it is read from the very start of the page: with an equation the
 * planner takes the index by time for as good wherever it takes the value for frequent.
 */
function merged(search: SearchParameters, values: Sql, { column, key }: Indexed): Sql {
  const withValue = first(
    search,
    sql`select a.id, a.created_at from attestations a
      where a.org_id = ${search.org_id} and (${column}, a.created_at, a.id) < (wanted.key, ${startMoment}, ${startId})
        and (${column}, a.created_at) >= (wanted.key, to_timestamp(${search.from}::float8)) and ${filters(search)}`,
    sql`${column} desc, a.created_at desc, a.id desc`,
  );
  return first(
    search,
    sql`select m.* from (select ${key(sql`value`)} as key from unnest(array${values}) as given (value)) as wanted
      cross join lateral (${withValue}) m`,
    sql`m.created_at desc, m.id desc`,
  );
}

/** How the page is found, by what narrows the search down best. */
const pages = {
  id: (search: SearchParameters) => matching(search, sql`a.id = ${search.id}::uuid`),
  flow: (search: SearchParameters) =>
    merged(search, sql`(select distinct unnest(${search.flows}::uuid[]))`, {
      column: sql`a.flow_id`,
      key: (id) => id,
    }),
  name: (search: SearchParameters) =>
    merged(search, sql`(select distinct unnest(${search.names}::text[]))`, numbered(sql`a.name`, search)),
  type: (search: SearchParameters) =>
    merged(search, sql`(select distinct unnest(${search.types}::text[]))`, numbered(sql`a.type`, search)),
  verdict: (search: SearchParameters) => matching(search, sql`not a.is_compliant`),
  time: (search: SearchParameters) => matching(search, sql`true`),
};

/** Chooses what to search by first. A flow's attestations have the names and types of its template, so a flow goes first. */
function narrowest(wanted: AttestationSearch): keyof typeof pages {
  if (wanted.id !== undefined) return "id";
  if (wanted.flows !== undefined) return "flow";
  if (wanted.names !== undefined) return "name";
  if (wanted.types !== undefined) return "type";
  return wanted.is_compliant === false ? "verdict" : "time";
}

/** Joins of what the attestation object takes beside `a`. */
const joined = (org: Parameter): Sql => sql`join flows f on f.org_id = ${org} and f.id = a.flow_id
  join trails t on t.org_id = ${org} and t.id = a.trail_id ${itsEvidence(org)}`;

/**
 * Writes a common table expression with what each attestation of `page` weighs, and one with what all of them do. They are looked
 * up once more where the page is read: with their bytes in one go, all of a heavy page would be made to be thrown away.
 */
const weighed = (org: Parameter): Sql => sql`weighed as materialized (
    select p.id, p.created_at, ${attestationBytes} as bytes
    from page p join attestations a on a.org_id = ${org} and a.id = p.id
  ), page_bytes as materialized (select sum(bytes) as bytes from weighed)`;
const isHeavyPage = isHeavy(sql`(select bytes from page_bytes)`);

const foundAttestation = { id: text, text: nullable(text), bytes: integer };

/** An attestation that was found: its wire id, what it weighs and, unless all that were found are heavy together, its JSON text. */
export type FoundAttestation = RowOf<typeof foundAttestation>;

/** Lists attestations that match everything that is searched by, newest first. At most 101. */
export function searchAttestations(
  db: Executor,
  org: Org,
  how: Showing,
  wanted: AttestationSearch,
): Promise<FoundAttestation[]> {
  const search = searchParameters(org, how, wanted);
  const by = narrowest(wanted);
  return db.all(query(`attestations-by-${by}`, foundAttestation)`
      with ${start(search)}, page as materialized (${pages[by](search)}), ${weighed(search.org_id)}
      select wire_id(a.id) as id, p.bytes,
        case when not ${isHeavyPage} then ${attestationObject(selfPath(search.org_id), search)} end as text
      from weighed p join attestations a on a.org_id = ${search.org_id} and a.id = p.id ${joined(search.org_id)}
      order by p.created_at desc, p.id desc`);
}

/** By which path attestations are shown to be read: their own or, where they were asked for by name, that one. */
export type SelfPath = "own" | "trail" | { fingerprint: string };

/** Reads attestations by their ids, in that order: the JSON text of each. */
export function listAttestationsById(
  db: Executor,
  org: Org,
  how: Showing,
  { ids, self }: { ids: readonly string[]; self: SelfPath },
): Promise<{ text: string }[]> {
  const read = readParameters(org, how);
  const [name, path] =
    self === "own"
      ? ["own", selfPath(read.org_id)]
      : self === "trail"
        ? ["trail", trailPath]
        : ["artifact", artifactPath(param(self.fingerprint))];
  return db.all(query(`attestations-by-ids-${name}`, { text })`
    select ${attestationObject(path, read)} as text
    from unnest(${ids}::uuid[]) with ordinality as asked (id, place)
    join attestations a on a.org_id = ${read.org_id} and a.id = asked.id ${joined(read.org_id)}
    order by asked.place`);
}

/** Lists the names that an organization's attestations have, sorted; no more than a limit. Reads one row of an index each. */
export async function listAttestationNames(db: Executor, orgId: string, limit: number): Promise<string[]> {
  const org = param(orgId);
  const rows = await db.all(query("attestation-names", { name: text })`
    with recursive names (name) as (
      (select a.name from attestations a where a.org_id = ${org} order by a.name limit 1)
      union all
      select (select a.name from attestations a where a.org_id = ${org} and a.name > n.name order by a.name limit 1)
      from names n where n.name is not null
    )
    select name from names where name is not null limit ${limit}::bigint`);
  return rows.map(({ name }) => name);
}

/** What attestations of commits have to be like; null does not matter. */
interface CommitCriteria {
  flow: string | null;
  name: string | null;
  type: string | null;
}

/** Lists for each commit its attestations, oldest first. */
export async function listAttestationsOfCommits(
  db: Executor,
  org: Org,
  how: Showing,
  { commits, ...wanted }: CommitCriteria & { commits: readonly string[] },
): Promise<{ sha: string; page: PageText }[]> {
  const read = readParameters(org, how);
  const [flow, name, type] = [param(wanted.flow), param(wanted.name), param(wanted.type)];
  const asked = sql`unnest((select ${param(commits)}::text[])) as wanted (sha)`;
  const fits = sql`a.org_id = ${read.org_id} and a.git_commit = wanted.sha
        and (${flow}::text is null or a.flow_id = ${flowIdNamed(read.org_id, sql`${flow}::text`)})
        and (${name}::text is null or a.name = ${name}::text)
        and (${type}::text is null or a.type = ${type}::text)`;
  const bytesOfCommit = sql`select sum(${attestationBytes}) as bytes from attestations a where ${fits}`;
  const rows = await db.all(query("attestations-of-commits", { sha: text, ...pageText })`
    with page_bytes as materialized (
      select sum(found.bytes) as bytes from ${asked} cross join lateral (${bytesOfCommit}) found)
    select wanted.sha, case when not ${isHeavyPage} then coalesce('[' || (
      select string_agg(${attestationObject(selfPath(read.org_id), read)}, ',' order by a.created_at, a.id)
      from attestations a ${joined(read.org_id)}
      where ${fits}
    ) || ']', '[]') end as list,
    case when ${isHeavyPage} then (
      select ${heavyRows({ id: raw("a.id"), bytes: attestationBytes, order: "a.created_at, a.id" })}
      from attestations a where ${fits}) end as heavy
    from ${asked}`);
  return rows.map(({ sha, ...page }) => ({ sha, page: pageOf(page) }));
}

/** A part of a flow's attestations, newest first. */
export interface FlowPage extends PageSlice {
  flow_id: string;
  /** Inclusive, Unix seconds; so below. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Reads the part, and how many attestations there are in all. */
export async function listFlowAttestations(
  db: Executor,
  org: Org,
  how: Showing,
  { flow_id, from = 0, to = endOfTime, limit, offset }: FlowPage,
): Promise<{ total: number; page: PageText }> {
  const read = readParameters(org, how);
  const [flow, first, last] = [param(flow_id), param(from), param(to)];
  const inFlow = sql`a.org_id = ${read.org_id} and a.flow_id = ${flow}::uuid
  and a.created_at >= to_timestamp(${first}::float8) and a.created_at <= to_timestamp(${last}::float8)`;
  const { total, ...page } = await db.one(query("attestations-of-flow", { total: integer, ...pageText })`
    with page as materialized (
      select * from (
        select a.id, a.created_at from attestations a where ${inFlow}
        order by a.created_at desc, a.id desc limit ${largestPage} offset ${offset}::bigint) s
      limit ${limit}::bigint), ${weighed(read.org_id)}
    select (select count(*) from attestations a where ${inFlow}) as total,
      case when not ${isHeavyPage} then coalesce('[' || (
        select string_agg(${attestationObject(selfPath(read.org_id), read)}, ',' order by p.created_at desc, p.id desc)
        from page p join attestations a on a.org_id = ${read.org_id} and a.id = p.id ${joined(read.org_id)}
      ) || ']', '[]') end as list,
      case when ${isHeavyPage} then (
        select ${heavyRows({ id: raw("id"), bytes: raw("bytes"), order: "created_at desc, id desc" })} from weighed
      ) end as heavy`);
  return { total, page: pageOf(page) };
}
