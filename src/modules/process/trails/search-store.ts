import type { Database, Executor } from "../../../db/connect.ts";
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
  timestamp,
  uuid,
  uuids,
} from "../../../db/row.ts";
import { constant, empty, join, moment, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { complianceStates } from "../../../domain/compliance/model.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { containsPattern } from "../../../lib/like.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import {
  flowConditions,
  hasFingerprint,
  listTrailsById,
  listWholePage,
  type ReadTrailRow,
  type TrailFilter,
} from "./list-store.ts";

/** Trails that a search looks at, the newest ones: no index knows what is asked of them. */
export const mostSearched = 10_000;

/** What is asked of trails beside the filters of every list. What is undefined is not asked. */
export interface TrailSearch extends TrailFilter {
  /** Any of these. */
  states: readonly string[] | undefined;
  /** Of the trail's begin, both included. */
  start_ts: Timestamp | undefined;
  end_ts: Timestamp | undefined;
  /** Part of the name in any case, or the beginning of the commit. */
  text: string | undefined;
  /** Name of a repo that reports came from. */
  repo: string | undefined;
  /** Name of an attestation that is asked for and was not reported. */
  missing: string | undefined;
  /** Name of an attestation that fails. */
  failing: string | undefined;
}

const searched = {
  /** Of the page, in order. */
  ids: uuids,
  /** How many match, of those looked at. */
  total: integer,
  /** Whether there are trails that were not looked at. */
  truncated: boolean,
  /** When the oldest one that was looked at began; null when there are none. */
  searched_since: nullable(timestamp),
};

export type SearchedTrails = RowOf<typeof searched>;

/** Digits of a commit that are enough to look for one. */
const commitPattern = /^[0-9a-f]{4,40}$/i;

/** The looked-at trail `l` itself. What no index has is asked as well: an index with all that is asked would be searched through. */
const sameTrail = sql`id = l.id and last_modified_at > '-infinity'`;

/** Joins the row of a table that belongs to the looked-at trail `l`. It is looked up, whatever the planner expects. */
function lookedUp(orgId: string, table: Sql, condition: Sql, alias: Sql): Sql {
  return sql`cross join lateral (select * from ${table} where org_id = ${orgId} and ${condition} limit 1) ${alias}`;
}

/** Writes the condition that the trail `t` is called like this, or was made for this commit. */
function textCondition(wanted: string): Sql {
  const inName = sql`t.name ilike ${containsPattern(wanted)}`;
  if (!commitPattern.test(wanted)) return inName;
  return sql`(${inName} or starts_with(t.git_commit_info ->> 'sha1', ${wanted.toLowerCase()}))`;
}

function outcomeConditions({ states, missing, failing }: TrailSearch): Sql[] {
  return [
    ...(states === undefined ? [] : [sql`o.state = any(${states}::text[])`]),
    ...(missing === undefined ? [] : [sql`${missing} = any(o.missing_names)`]),
    ...(failing === undefined ? [] : [sql`${failing} = any(o.failing_names)`]),
  ];
}

/** Writes the conditions on the looked-at trail `t` that its own row answers. */
function ownConditions(orgId: string, search: TrailSearch): Sql[] {
  const { text: wanted, repo } = search;
  return [
    ...(wanted === undefined ? [] : [textCondition(wanted)]),
    ...(repo === undefined
      ? []
      : [sql`t.repo_ids && array(select r.id from repos r where r.org_id = ${orgId} and r.name = ${repo})`]),
    ...flowConditions(orgId, search),
  ];
}

/** Writes the conditions on the trail `t` that an index answers. */
function indexedConditions(orgId: string, search: TrailSearch, mostArtifacts: Sql): Sql {
  const { flow_id, fingerprint, start_ts, end_ts } = search;
  return join(
    [
      sql`t.org_id = ${orgId}`,
      ...(flow_id === undefined ? [] : [sql`t.flow_id = ${flow_id}`]),
      ...(start_ts === undefined ? [] : [sql`t.created_at >= ${moment(start_ts)}`]),
      ...(end_ts === undefined ? [] : [sql`t.created_at <= ${moment(end_ts)}`]),
      ...(fingerprint === undefined
        ? []
        : [
            sql`t.id = any(array(select a.trail_id from artifacts a where a.org_id = ${orgId}
            and ${hasFingerprint(fingerprint)} order by a.fingerprint limit ${mostArtifacts}))`,
          ]),
    ],
    " and ",
  );
}

/** Writes the condition that more artifacts begin with a fingerprint than are looked at. */
function isCut(orgId: string, { fingerprint }: TrailSearch, mostArtifacts: Sql): Sql {
  if (fingerprint === undefined) return raw("false");
  return sql`exists (select from artifacts a where a.org_id = ${orgId} and ${hasFingerprint(fingerprint)}
    order by a.fingerprint limit 1 offset ${mostArtifacts})`;
}

/** How many artifacts of the beginning of a fingerprint a search looks at. */
const fewArtifacts = constant(mostSearched);
const everyArtifact = raw("null");

/**
 * Searches the newest trails of a flow or an organization within a time window, and lists a page of those that match, newest
 * first. One statement. It looks at 10,000 trails at most, whatever there is: by their order in an index; each costs a
 * look at its outcome, or at its row, when something is asked of these. With 1,000,000 trails that takes 10 to 60 ms. Of
 * artifacts whose fingerprints begin alike it looks at 10,000, in the order of these: then nothing says how far it has come.
 */
export function searchTrails(
  db: Executor,
  orgId: string,
  search: TrailSearch,
  page: PageSlice,
  mostArtifacts: Sql = fewArtifacts,
): Promise<SearchedTrails> {
  const newest = raw("t.created_at desc, t.id desc");
  const own = ownConditions(orgId, search);
  const outcome = outcomeConditions(search);
  const most = constant(mostSearched);
  const cut = mostArtifacts === everyArtifact ? raw("false") : isCut(orgId, search, mostArtifacts);
  return db.one(query(searched)`
    with looked as materialized (
      select t.*, row_number() over (order by ${newest}) as place
      -- What an index has, in its order. More of them would make the planner sort all, of which it expects few.
      from (
        select t.id, t.created_at from trails t where ${indexedConditions(orgId, search, mostArtifacts)}
        order by ${newest} limit ${constant(mostSearched + 1)}) t
    ), artifacts_cut as materialized (
      select ${cut} as is_so
    ), matching as materialized (
      select l.id, l.place from looked l
      ${own.length === 0 ? empty : lookedUp(orgId, raw("trails"), sameTrail, raw("t"))}
      ${outcome.length === 0 ? empty : lookedUp(orgId, raw("trail_outcomes"), sql`trail_id = l.id`, raw("o"))}
      where ${join([sql`l.place <= ${most}`, ...own, ...outcome], " and ")}
    )
    select array(
        select id from matching order by place limit ${page.limit}::bigint offset ${page.offset}::bigint
      ) as ids,
      (select count(*) from matching) as total,
      exists (select from looked where place > ${most}) or (select is_so from artifacts_cut) as truncated,
      (select min(created_at) from looked where place <= ${most} and not (select is_so from artifacts_cut)) as searched_since`);
}

/** Found trails that are read at a time. */
const readTogether = 50;

/**
 * Reads every trail that a search finds, newest first, some at a time: it goes on where the one before stopped looking, until all trails
 * of flow and window were looked at.
 */
export async function* listFoundTrails(
  db: Database,
  orgId: string,
  search: TrailSearch,
): AsyncGenerator<ReadTrailRow[]> {
  const whole = { limit: mostSearched, offset: 0 };
  let end_ts = search.end_ts;
  let before = new Set<string>();
  for (;;) {
    const found = await db.sliced(() => searchTrails(db, orgId, { ...search, end_ts }, whole, everyArtifact));
    // Those of the moment where it stopped come again.
    const ids = found.ids.filter((id) => !before.has(id));
    for (let from = 0; from < ids.length; from += readTogether) {
      const some = ids.slice(from, from + readTogether);
      yield* listWholePage(db, orgId, await db.sliced(() => listTrailsById(db, orgId, some)));
    }
    if (!found.truncated || found.searched_since === null || found.searched_since === end_ts) return;
    end_ts = found.searched_since;
    before = new Set(found.ids);
  }
}

const matrixTrail = {
  id: uuid,
  name: text,
  flow_name: text,
  compliance_state: oneOf(complianceStates),
  created_at: timestamp,
  last_modified_at: timestamp,
  git_commit_info: nullable(json<unknown>()),
  /** JSON text, because parsing would not keep the order of artifacts. */
  compliance_status: text,
};

/** A trail with what became of each attestation on it, and little else. */
export type MatrixTrailRow = RowOf<typeof matrixTrail>;

/** Writes the JSON of the cells of a list of verdicts. What is null or false by nature is left to `json_strip_nulls`. */
function cells(list: Sql): Sql {
  return sql`(
    select coalesce(json_agg(json_build_object('attestation_name', cell.attestation_name,
      'attestation_id', cell.attestation_id, 'overridden_attestation_id', cell.overridden_attestation_id,
      'status', cell.status, 'is_compliant', cell.is_compliant, 'unexpected', nullif(cell.unexpected, false))
      order by cell.place), '[]')
    from rows from (json_to_recordset(${list}) as (attestation_name text, attestation_id text,
      overridden_attestation_id text, status text, is_compliant boolean, unexpected boolean))
      with ordinality as cell (attestation_name, attestation_id, overridden_attestation_id, status, is_compliant,
        unexpected, place))`;
}

const weighedMatrixTrail = { ...matrixTrail, ...begunPage };

/** The newest rows of a matrix, and which others it has. */
export type MatrixPage = BegunPage<MatrixTrailRow>;

/**
 * Lists trails by their ids, newest first, as rows of a matrix: as many as are not too much at once, by their verdicts and commits. One
 * statement, which takes apart 100 verdicts at most.
 */
export async function listMatrixTrails(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<MatrixPage> {
  const asked = param(ids);
  const trails = sql`(
    select t.id, t.name, f.name as flow_name, c.state as compliance_state, t.created_at, t.last_modified_at,
      t.git_commit_info, c.status
    from unnest(${asked}::uuid[]) as asked (id)
    join trails t on t.org_id = ${orgId} and t.id = asked.id
    join flows f on f.org_id = ${orgId} and f.id = t.flow_id
    join trail_compliance c on c.org_id = ${orgId} and c.trail_id = t.id) trail`;
  const large = ["status::text", "git_commit_info::text"];
  return begunBy(
    await db.all(query(weighedMatrixTrail)`
    select c.id, c.name, c.flow_name, c.compliance_state, c.created_at, c.last_modified_at, c.git_commit_info,
      json_strip_nulls(json_build_object(
        'attestations_statuses', ${cells(sql`c.status -> 'attestations_statuses'`)},
        'artifacts_statuses', (
          select coalesce(json_object_agg(artifact.name, json_build_object(
            'artifact_fingerprint', artifact.said -> 'artifact_fingerprint', 'status', artifact.said -> 'status',
            'unexpected', nullif((artifact.said ->> 'unexpected')::boolean, false),
            'attestations_statuses', ${cells(sql`artifact.said -> 'attestations_statuses'`)}) order by artifact.place), '{}')
          from json_each(c.status -> 'artifacts_statuses') with ordinality as artifact (name, said, place))
      ))::text as compliance_status,
      ${idsAtFirst(sql`${asked}::uuid[]`)}
    from (${weighed(trails, { columns: large, order: "created_at desc, id desc" })}) c
    where c.place = 1 or c.bytes <= ${constant(mostBytes)}
    order by c.place`),
  );
}

/** Reads all of a matrix, of which the first part has been read. */
export function listWholeMatrix(
  db: Database,
  orgId: string,
  first: MatrixPage,
): AsyncGenerator<MatrixTrailRow[]> {
  return wholePage(db, first, (ids) => listMatrixTrails(db, orgId, ids));
}
