import type { Executor } from "../../../db/connect.ts";
import { boolean, float, integer, nullable, oneOf, type RowOf, text, uuid } from "../../../db/row.ts";
import { identifier, query, raw, sql } from "../../../db/sql.ts";
import { organizationKinds } from "../../../domain/principal.ts";

const place = { can: boolean, name: text, definition: text };

/** Where a database could be made beside this one. */
export type PlaceBeside = RowOf<typeof place>;

/**
 * Tells whether this role may make a database beside this one, what it would be called, always the same and by no other installation on
 * that PostgreSQL, and how its texts would have to be compared to be as here.
 */
export function findPlaceBeside(db: Executor): Promise<PlaceBeside> {
  return db.one(query(place)`
    select (select rolcreatedb or rolsuper from pg_roles where rolname = current_user) as can,
      'waybill_drill_' || oid as name,
      format('encoding %L', pg_encoding_to_char(encoding)) ||
        case datlocprovider when 'c' then format(' lc_collate %L lc_ctype %L', datcollate, datctype) else '' end as definition
    from pg_database where datname = current_database()`);
}

/** Makes an empty database. */
export async function createDatabase(db: Executor, { name, definition }: PlaceBeside): Promise<void> {
  await db.run(sql`create database ${identifier(name)} template template0 ${raw(definition)}`);
}

/** Removes a database, whoever is connected to it, if it is there. */
export async function dropDatabase(db: Executor, { name }: Pick<PlaceBeside, "name">): Promise<void> {
  await db.run(sql`drop database if exists ${identifier(name)} with (force)`);
}

const organization = {
  id: uuid,
  name: text,
  kind: oneOf(organizationKinds),
  public: boolean,
  /** Entries of its audit log. */
  entries: integer,
  /** When the last one was written, in Unix seconds; null without any. */
  last_at: nullable(float),
};

/** An organization of which answers are compared. */
export type SampledOrganization = RowOf<typeof organization>;

/** Picks organizations at random, those that have records first. */
export function sampleOrganizations(db: Executor, count: number): Promise<SampledOrganization[]> {
  return db.all(query(organization)`
    select o.id, o.name, o.kind, o.public, coalesce(c.audit_seq, 0) as entries, (
      select extract(epoch from occurred_at)::float8 from audit_log l where l.org_id = o.id order by seq desc limit 1
    ) as last_at
    from organizations o left join org_counters c on c.org_id = o.id
    order by coalesce(c.audit_seq, 0) = 0, random() limit ${count}`);
}

/** Counts the entries of an organization's audit log; undefined for one that is not there. */
export async function countEntries(db: Executor, orgId: string): Promise<number | undefined> {
  const row = await db.first(query({ entries: integer })`
    select coalesce(c.audit_seq, 0) as entries from organizations o left join org_counters c on c.org_id = o.id
    where o.id = ${orgId}`);
  return row?.entries;
}

const snapshot = { environment: text, index: integer };

/** Picks a snapshot at random of each of some environments. */
export function sampleSnapshots(
  db: Executor,
  orgId: string,
  count: number,
): Promise<RowOf<typeof snapshot>[]> {
  return db.all(query(snapshot)`
    select e.name as environment, greatest(1, ceil(random() * s.last))::integer as index
    from environments e
    cross join lateral (select index as last from snapshots where org_id = e.org_id and environment_id = e.id
      order by index desc limit 1) as s
    where e.org_id = ${orgId} and e.archived_at is null order by random() limit ${count}`);
}
