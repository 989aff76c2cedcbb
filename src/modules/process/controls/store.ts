import type { Executor, Tx } from "../../../db/connect.ts";
import { countRows } from "../../../db/count-rows.ts";
import { hasAnyTag } from "../../../db/list-filters.ts";
import { boolean, integer, json, nullable, oneOf, type RowOf, text, timestamp } from "../../../db/row.ts";
import { join, jsonb, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { type ControlStatus, controlStatuses } from "../../../domain/controls.ts";
import type { SortDirection } from "../../../domain/environments.ts";
import type { TagFilter, Tags } from "../../../domain/tags.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { PageSlice } from "../../../lib/paging.ts";

/** What controls and the entries of their history have in common. */
const shared = {
  identifier: text,
  name: text,
  description: nullable(text),
  version: integer,
  archived: boolean,
  created_by: text,
  created_at: timestamp,
  /** Address by name. */
  links: json<Record<string, string>>(),
};
const control = { ...shared, tags: json<Tags>() };

/** A control as it is shown. */
export type ControlRow = RowOf<typeof control>;

/** The columns of a `ControlRow`, from `c`. */
const shownControl = sql`c.identifier, c.name, c.description, c.version, c.archived,
  c.created_by_name as created_by, c.created_at, c.links, c.tags`;

/** Who changes a control, when, and what the change is called in its history. */
export interface Authorship {
  status: ControlStatus;
  at: Timestamp;
  by: string;
}

/** Writes what appends to the history what the control in the common table expression `c` has become. */
function historyEntry(orgId: string, { status, at, by }: Authorship): Sql {
  return sql`insert into control_versions (org_id, control_id, version, status, name, description, links, archived,
      created_at, created_by_name)
    select ${orgId}::uuid, c.id, c.version, ${status}, c.name, c.description, c.links, c.archived, ${moment(at)}, ${by}::text
    from c`;
}

export interface NewControl {
  id: string;
  identifier: string;
  name: string;
  description: string | null;
  links: Record<string, string>;
}

/**
 * Inserts a control and the first entry of its history, waiting for others who are about to take the identifier.
 * @returns undefined when a control has the identifier.
 */
export function insertControl(
  tx: Tx,
  orgId: string,
  given: NewControl,
  authorship: Authorship,
): Promise<ControlRow | undefined> {
  return tx.first(query(control)`
    with c as (
      insert into controls (org_id, id, identifier, name, description, links, version, created_at, created_by_name)
      values (${orgId}, ${given.id}, ${given.identifier}, ${given.name}, ${given.description},
        ${jsonb(given.links)}, 1, ${moment(authorship.at)}, ${authorship.by})
      on conflict (org_id, identifier) do nothing
      returning *
    ), entry as (${historyEntry(orgId, authorship)})
    select ${shownControl} from c`);
}

/** What a control is to be; what is absent or null stays. */
export interface ControlChange {
  name?: string | null | undefined;
  description?: string | null | undefined;
  links?: Record<string, string> | null | undefined;
  archived?: boolean | undefined;
  /** Makes a version even of a control that is like that already. */
  anew?: boolean;
}

/**
 * Changes a control and appends to its history.
 * @returns undefined when there is no such control, or it is like that already and is not to be changed anew.
 */
export function updateControl(
  tx: Tx,
  orgId: string,
  { identifier, anew = false, ...change }: ControlChange & { identifier: string },
  authorship: Authorship,
): Promise<ControlRow | undefined> {
  const next = sql`coalesce(${change.name ?? null}::text, k.name),
    coalesce(${change.description ?? null}::text, k.description),
    coalesce(${jsonb(change.links)}, k.links),
    coalesce(${change.archived ?? null}::boolean, k.archived)`;
  return tx.first(query(control)`
    with c as (
      update controls as k
      set (name, description, links, archived, version) = row (${next}, k.version + 1)
      where k.org_id = ${orgId} and k.identifier = ${identifier}
        and (${anew}::boolean or (k.name, k.description, k.links, k.archived) is distinct from (${next}))
      returning k.*
    ), entry as (${historyEntry(orgId, authorship)})
    select ${shownControl} from c`);
}

/** Lists those of these identifiers that controls have, archived or not. */
export async function listIdentifiers(
  db: Executor,
  orgId: string,
  identifiers: readonly string[],
): Promise<string[]> {
  if (identifiers.length === 0) return [];
  const rows = await db.all(query({ identifier: text })`
    select identifier from controls where org_id = ${orgId} and identifier = any(${identifiers}::text[])`);
  return rows.map(({ identifier }) => identifier);
}

/** Finds the control of this identifier, archived or not. */
export function findControl(
  db: Executor,
  orgId: string,
  identifier: string,
): Promise<ControlRow | undefined> {
  return db.first(query(control)`
    select ${shownControl} from controls c where c.org_id = ${orgId} and c.identifier = ${identifier}`);
}

/** Which controls. */
export interface ControlFilter {
  archived: boolean;
  /** Part of the name or of the identifier, in any case. */
  search?: string | undefined;
  /** Any of these. */
  tags?: TagFilter | undefined;
}

/** Which part of a list, in which order. */
export interface ListPage extends PageSlice {
  sort_direction: SortDirection;
}

function matching(orgId: string, { archived, search, tags }: ControlFilter): Sql {
  const all = [sql`c.org_id = ${orgId}`, sql`c.archived = ${archived}`];
  if (search !== undefined) {
    // The columns compare by code point, and that collation knows no letters beyond ASCII.
    const found = (column: Sql): Sql =>
      sql`strpos(lower(${column} collate "default"), lower(${search}::text)) > 0`;
    all.push(sql`(${found(sql`c.name`)} or ${found(sql`c.identifier`)})`);
  }
  if (tags !== undefined) all.push(hasAnyTag("c", tags));
  return join(all, " and ");
}

/** Lists some of the controls that match, by name. */
export function listControls(
  db: Executor,
  orgId: string,
  filter: ControlFilter,
  page: ListPage,
): Promise<ControlRow[]> {
  const direction = raw(page.sort_direction);
  return db.all(query(control)`
    select ${shownControl} from controls c where ${matching(orgId, filter)}
    order by c.name ${direction}, c.identifier ${direction}
    limit ${page.limit}::bigint offset ${page.offset}::bigint`);
}

/** Counts the controls that match. */
export function countControls(db: Executor, orgId: string, filter: ControlFilter): Promise<number> {
  return countRows(db, sql`controls c where ${matching(orgId, filter)}`);
}

/** Lists the distinct pairs of key and value over the tags of all controls, by code point. */
export function listTagChoices(db: Executor, orgId: string): Promise<{ key: string; value: string }[]> {
  return db.all(query({ key: text, value: text })`
    select distinct tag.key collate "C" as key, tag.value collate "C" as value
    from controls c cross join lateral jsonb_each_text(c.tags) as tag
    where c.org_id = ${orgId}
    order by 1, 2`);
}

const controlVersion = { ...shared, status: oneOf(controlStatuses) };

/** An entry of a control's history as it is shown. */
export type ControlVersionRow = RowOf<typeof controlVersion>;

const shownVersions = sql`
  select c.identifier, v.name, v.description, v.version, v.archived, v.status, v.created_by_name as created_by,
    v.created_at, v.links
  from controls c join control_versions v on v.org_id = c.org_id and v.control_id = c.id`;

/**
 * Lists some entries of the history of a control, by number. The numbers on the page are known beforehand, because there
 * are no gaps.
 * @param page `total` is the control's latest version.
 */
export function listControlVersions(
  db: Executor,
  orgId: string,
  identifier: string,
  { offset, limit, total, sort_direction }: ListPage & { total: number },
): Promise<ControlVersionRow[]> {
  const [above, upTo] =
    sort_direction === "asc" ? [offset, offset + limit] : [total - offset - limit, total - offset];
  return db.all(query(controlVersion)`
    ${shownVersions}
    where c.org_id = ${orgId} and c.identifier = ${identifier}
      and v.version > ${above}::bigint and v.version <= ${upTo}::bigint
    order by v.version ${raw(sort_direction)}`);
}

/** Finds one entry of the history of a control. */
export function findControlVersion(
  db: Executor,
  orgId: string,
  identifier: string,
  version: number,
): Promise<ControlVersionRow | undefined> {
  return db.first(query(controlVersion)`
    ${shownVersions}
    where c.org_id = ${orgId} and c.identifier = ${identifier} and v.version = ${version}`);
}
