import type { Database, Executor } from "../../../db/connect.ts";
import { countRows } from "../../../db/count-rows.ts";
import {
  begunBy,
  type BegunPage,
  begunPage,
  idsAtFirst,
  mostBytes,
  weighed,
  wholePage,
} from "../../../db/heavy-page.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
  texts,
  timestamp,
  uuid,
} from "../../../db/row.ts";
import { constant, empty, identifier, join, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { complianceStates } from "../../../domain/compliance/model.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { repoBytes } from "../repos/bytes-sql.ts";
import { eventBytes } from "./event-sql.ts";

const readTrail = {
  id: uuid,
  flow_id: uuid,
  name: text,
  description: text,
  git_commit_info: nullable(json<unknown>()),
  origin_url: nullable(text),
  external_urls: nullable(json<unknown>()),
  /** JSON text as it was written. */
  user_data: text,
  template: text,
  template_id: uuid,
  /** Wire ids. */
  repo_ids: texts,
  created_at: timestamp,
  created_by_name: text,
  last_modified_at: timestamp,
  flow_name: text,
  flow_tags: json<Record<string, string>>(),
  compliance_state: oneOf(complianceStates),
  /** JSON text, because parsing would not keep the order of artifacts. */
  compliance_status: text,
};

/** A trail as it is read, with what is shown of its flow. */
export type ReadTrailRow = RowOf<typeof readTrail>;

const columns = sql`t.id, t.flow_id, t.name, t.description, t.git_commit_info, t.origin_url, t.external_urls, t.user_data::text as user_data,
  t.template, t.template_id, array(
    select wire_id(repo.id) from unnest(t.repo_ids) with ordinality as repo (id, position) order by repo.position
  ) as repo_ids, t.created_at, t.created_by_name, t.last_modified_at, f.name as flow_name, f.tags as flow_tags,
  c.state as compliance_state, c.status::text as compliance_status`;

// Every trail has its verdict: it is judged in the transaction that begins it.
const judgedTrails = sql`trails t join flows f on f.org_id = t.org_id and f.id = t.flow_id
  join trail_compliance c on c.org_id = t.org_id and c.trail_id = t.id`;

/**
 * Reads each trail of a page, a table `page` with their `id`s, by its key. The planner has no say: joined at once, it would at times read all
 * trails of all flows, because it takes them for few.
 */
function trailsOf(orgId: string): Sql {
  return sql`page cross join lateral (
    select ${columns} from ${judgedTrails} where t.org_id = ${orgId} and t.id = page.id offset 0) trail`;
}

/** Reports on a trail, and events of its own, up to which all its events are read at once. */
const fewRows = 500;

/** Bytes of events up to which they are. */
const fewBytes = 1024 * 1024;

/** Selects bytes of what each event of the trail `t` may show beside its row: a repo, and the name of an artifact. */
function besideBytes(orgId: string): Sql {
  return sql`select (select coalesce(max(${repoBytes}), 0) from repos r where r.org_id = ${orgId} and r.id = any (t.repo_ids)) + (
      select coalesce(max(octet_length(named.filename)), 0) from (
        select filename from artifacts where org_id = ${orgId} and trail_id = t.id limit ${constant(fewRows)}) named) as bytes`;
}

const beside = raw("beside.bytes");

/** Bytes of all events of a row `a`, about: what they show `beside` is taken for as much as the largest of that. */
const bytesOfRow = {
  artifacts: () => eventBytes.artifact(beside),
  attestations: () => sql`(${eventBytes.attestation(beside)}) * greatest(1, cardinality(a.target_artifacts))`,
  trail_events: eventBytes.trail,
};

/** Tests whether the trail `t` has so many rows in a table, or so many bytes in them, that its events are not read at once. */
function hasMany(orgId: string, table: keyof typeof bytesOfRow): Sql {
  return sql`(select count(*) = ${constant(fewRows)} or coalesce(sum(bytes), 0) > ${constant(fewBytes)} from (
    select ${bytesOfRow[table](orgId)} as bytes from ${identifier(table)} a
    where a.org_id = ${orgId} and a.trail_id = t.id limit ${constant(fewRows)}) counted)`;
}

const foundTrail = {
  ...readTrail,
  /** It has so many events that they are better read in parts. */
  is_long: boolean,
};

/** A trail to be read in full. */
export type FoundTrail = RowOf<typeof foundTrail>;

/** Finds the trail of this name in a flow. */
export function findTrail(
  db: Executor,
  orgId: string,
  key: { flow_id: string; name: string },
): Promise<FoundTrail | undefined> {
  return db.first(query("find-trail", foundTrail)`
    select ${columns}, ${hasMany(orgId, "attestations")} or ${hasMany(orgId, "artifacts")}
      or ${hasMany(orgId, "trail_events")} as is_long
    from ${judgedTrails} cross join lateral (${besideBytes(orgId)}) beside
    where t.org_id = ${orgId} and t.flow_id = ${key.flow_id} and t.name = ${key.name}`);
}

export interface TrailFilter {
  flow_id: string | undefined;
  /** Of the flow: a key, or a key with its value. */
  tag: { key: string; value: string | undefined } | undefined;
  /** Beginning of the fingerprint of an artifact reported to the trail. */
  fingerprint: string | undefined;
}

/** Writes the condition that the flow `f` has a tag. */
function flowHasTag({ key, value }: NonNullable<TrailFilter["tag"]>): Sql {
  return value === undefined
    ? sql`f.tags ? ${key}`
    : sql`f.tags @> ${JSON.stringify({ [key]: value })}::jsonb`;
}

/** Writes the condition that the fingerprint of the artifact `a` begins like this. */
export function hasFingerprint(beginning: string): Sql {
  // Hexadecimal digits sort before "g", so the range holds exactly the fingerprints that begin like this.
  return sql`a.fingerprint >= ${beginning} and a.fingerprint < ${`${beginning}g`}`;
}

/** Lists the conditions on the flow of `t`, which is not in the archive unless it or its artifact is named. */
export function flowConditions(orgId: string, { flow_id, tag, fingerprint }: TrailFilter): Sql[] {
  const flows = sql`select f.id from flows f where f.org_id = ${orgId}`;
  return [
    ...(tag === undefined ? [] : [sql`t.flow_id in (${flows} and ${flowHasTag(tag)})`]),
    ...(flow_id === undefined && fingerprint === undefined
      ? [sql`t.flow_id not in (${flows} and f.archived_at is not null)`]
      : []),
  ];
}

/** Writes the conditions on the trail `t`, or on the tally `t` of the trails of a flow. */
function conditions(orgId: string, filter: TrailFilter): Sql {
  const { flow_id, fingerprint } = filter;
  return join(
    [
      sql`t.org_id = ${orgId}`,
      ...(flow_id === undefined ? [] : [sql`t.flow_id = ${flow_id}`]),
      ...(fingerprint === undefined
        ? []
        : [
            sql`t.id in (select a.trail_id from artifacts a where a.org_id = ${orgId} and ${hasFingerprint(fingerprint)})`,
          ]),
      ...flowConditions(orgId, filter),
    ],
    " and ",
  );
}

/** Trails up to which a page is read in the order of an index, one row after the other. */
const nearTrails = 1_000;

/**
 * Lists the ids of the newest trails that match, from an offset on. For the first of all trails it asks for a column that no index has, and hides
 * how many are wanted: the planner, which takes the trails of an organization for a two-hundredth of all, would read all of them off another index
 * and sort them. Far ones cost less that way.
 * @param begin the condition on `t` of where the list begins.
 */
function newestIds(
  orgId: string,
  filter: TrailFilter,
  { limit, offset }: PageSlice,
  begin: Sql = sql`true`,
): Sql {
  const matching = sql`from trails t where ${conditions(orgId, filter)} and ${begin} order by t.created_at desc, t.id desc`;
  const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined);
  return isFiltered || offset + limit > nearTrails
    ? sql`select t.id ${matching} limit ${limit}::bigint offset ${offset}::bigint`
    : sql`select t.id, t.template_id ${matching} limit (select ${limit}::bigint) offset (select ${offset}::bigint)`;
}

const weighedTrail = { ...readTrail, bytes: integer, place: integer };

/**
 * Of the trails of a page, a statement that selects ids, the newest ones that have so many bytes; one whatever it has.
 * @param more columns, of the `page` and of what was `weighed`.
 */
function lightest(orgId: string, page: Sql, bytes: number, more: Sql = empty): Sql {
  const columns = [
    "template",
    "user_data",
    "compliance_status",
    "description",
    "origin_url",
    "git_commit_info::text",
    "external_urls::text",
  ];
  const trails = sql`(select trail.* from ${trailsOf(orgId)}) trail`;
  return sql`
      -- The page comes first, by an index in its order: who joined before would read and sort all trails.
      with page as materialized (${page}), weighed as (
        ${weighed(trails, { columns, order: "created_at desc, id desc" })})
      select *${more} from weighed where place = 1 or bytes <= ${bytes} order by place`;
}

/** The newest trails of a page, and which others it has. */
export type TrailPage = BegunPage<ReadTrailRow>;

async function readPage(db: Executor, orgId: string, page: Sql): Promise<TrailPage> {
  const ids = sql`, ${idsAtFirst(sql`array(select id from page)`)}`;
  const columns = { ...weighedTrail, ...begunPage };
  return begunBy(await db.all(query(columns)`${lightest(orgId, page, mostBytes, ids)}`));
}

/** Lists trails that match every filter, newest first, from an offset on. */
export function listTrails(
  db: Executor,
  orgId: string,
  filter: TrailFilter,
  page: PageSlice,
): Promise<TrailPage> {
  return readPage(db, orgId, newestIds(orgId, filter, page));
}

/** Lists trails by their ids, newest first. */
export function listTrailsById(db: Executor, orgId: string, ids: readonly string[]): Promise<TrailPage> {
  return readPage(db, orgId, sql`select unnest(${ids}::uuid[]) as id`);
}

/** Reads all of a page, of which the first part has been read. */
export function listWholePage(db: Database, orgId: string, first: TrailPage): AsyncGenerator<ReadTrailRow[]> {
  return wholePage(db, first, (ids) => listTrailsById(db, orgId, ids));
}

/** Trails read at a time: so many, and of so many bytes, the first one whatever it weighs. */
const slice = { rows: 100, bytes: 512 * 1024 };

/** Reads every trail that matches, newest first, some at a time. Those begun meanwhile are left out. */
export async function* listAllTrails(
  db: Database,
  orgId: string,
  filter: TrailFilter,
): AsyncGenerator<ReadTrailRow[]> {
  for (let after: ReadTrailRow | undefined; ;) {
    const begin =
      after === undefined
        ? undefined
        : sql`(t.created_at, t.id) < (select created_at, id from trails where org_id = ${orgId} and id = ${after.id})`;
    const ids = newestIds(orgId, filter, { limit: slice.rows, offset: 0 }, begin);
    const statement = query(weighedTrail)`${lightest(orgId, ids, slice.bytes)}`;
    const rows = await db.sliced(() => db.all(statement));
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1);
  }
}

/**
 * Counts the trails that match every filter: off the tallies of flows, a row or two each, or one by one where a fingerprint is
 * asked for.
 */
export async function countTrails(db: Executor, orgId: string, filter: TrailFilter): Promise<number> {
  if (filter.fingerprint === undefined) {
    const { count } = await db.one(query({ count: integer })`
      select coalesce(sum(t.trails), 0)::bigint as count from trail_tallies t where ${conditions(orgId, filter)}`);
    return count;
  }
  return countRows(db, sql`trails t where ${conditions(orgId, filter)}`);
}
