import type { Executor, Tx } from "../../../db/connect.ts";
import { idList, idText } from "../../../db/id-list.ts";
import { boolean, integer, json, nullable, type RowOf, text, uuid } from "../../../db/row.ts";
import { constant, jsonb, moment, param, query, type Sql, sql } from "../../../db/sql.ts";
import type {
  JqEvaluator,
  SummaryItem,
  TypeDefinition,
} from "../../../domain/attestation-types/definition.ts";
import type { TypeReference } from "../../../domain/attestation-types/reference.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const typeVersion = {
  org_id: uuid,
  id: uuid,
  name: text,
  archived: boolean,
  version: integer,
  description: nullable(text),
  type_schema: nullable(json<Record<string, unknown>>()),
  evaluator: nullable(json<JqEvaluator>()),
  summary: nullable(json<SummaryItem[]>()),
};

/** One version of a type. */
export type TypeVersion = RowOf<typeof typeVersion>;

/** Finds the version meant, or the latest; archived types too. Undefined when there is no such type or version. */
export function findTypeVersion(
  db: Executor,
  orgId: string,
  { name, version }: TypeReference,
): Promise<TypeVersion | undefined> {
  return db.first(query(typeVersion)`
    select t.org_id, t.id, t.name, t.archived_at is not null as archived,
      v.version, v.description, v.type_schema, v.evaluator, v.summary
    from attestation_types as t
    join attestation_type_versions as v on v.org_id = t.org_id and v.type_id = t.id
    where t.org_id = ${orgId} and t.name = ${name}
      and (${version ?? null}::integer is null or v.version = ${version ?? null}::integer)
    order by v.version desc limit 1`);
}

/** The evaluator of a version without rules. */
const withoutRules = JSON.stringify({ content_type: "default" });

interface Org {
  id: string;
  name: string;
}

/** Writes a version `v` as it is shown: a JSON object. */
const versionObject = sql`jsonb_build_object(
      'version', v.version, 'timestamp', epoch(v.created_at), 'created_by', v.created_by_name,
      'type_schema', v.type_schema, 'evaluator', coalesce(v.evaluator, ${withoutRules}::jsonb), 'summary', v.summary)`;

/** Writes the description of a version, where it has one, as a JSON object. */
function described(description: Sql): Sql {
  return sql`case when ${description} is null then '{}'
      else jsonb_build_object('description', ${description}) end`;
}

/** Writes what is shown of each type `t`: a JSON object. */
function typeObject(org: Sql): Sql {
  return sql`jsonb_build_object('name', t.name, 'org', ${org}, 'archived', t.archived_at is not null)`;
}

/** Lists the ids of the types that are not archived, newest first, as `idText` writes them. */
export async function listTypeIds(db: Executor, orgId: string): Promise<string> {
  const { ids } = await db.one(query("attestation-type-ids", idList)`
    select ${idText("t.id", sql`t.created_at desc, t.id desc`)} as ids
    from attestation_types as t where t.org_id = ${orgId} and t.archived_at is null`);
  return ids;
}

/** Finds the id of a type, archived or not; undefined when there is none of this name. */
export async function findTypeId(db: Executor, orgId: string, name: string): Promise<string | undefined> {
  const row = await db.first(query("attestation-type-id", { id: uuid })`
    select id from attestation_types where org_id = ${orgId} and name = ${name}`);
  return row?.id;
}

/** How far types have been read. */
export interface ReadTypes {
  /** How many of those asked for have been begun. */
  place: number;
  /** The version that came last: the first one ends its type. */
  version: number;
  /** The version with which that type began. */
  newest: number;
}

/** Nothing has been read. */
export const noTypes: ReadTypes = { place: 0, version: 1, newest: 1 };

const typeSlice = {
  /** Follows what came before; before each type stands a comma. */
  text,
  place: integer,
  version: integer,
  newest: integer,
};

/** Bytes after which a slice ends: it has as many, and one version. */
const sliceBytes = 1_000_000;

/**
 * Reads types with their versions, newest first, as JSON text from where it ended the last time: version by version until there is enough for
 * once, so that none is looked at that does not come along, whatever there are.
 * @param asked the ids. Those that are gone are left out, and archived ones unless they are wanted.
 */
export function readTypes(
  db: Executor,
  org: Org,
  asked: { ids: readonly string[]; archived: boolean },
  after: ReadTypes,
): Promise<RowOf<typeof typeSlice>> {
  const id = sql`${param(org.id)}::uuid`;
  const ids = sql`${param(asked.ids)}::uuid[]`;
  return db.one(query("attestation-types-slice", typeSlice)`
    with recursive shown as (
      select 0 as step, ${after.place}::integer as place, ${after.version}::integer as version,
        ${after.newest}::integer as newest, '' as text, 0 as bytes
      union all
      select shown.step + 1, next.place, coalesce(one.version, 1), coalesce(one.newest, 1), coalesce(one.text, ''),
        shown.bytes + coalesce(octet_length(one.text), 0)
      from shown
      cross join lateral (
        select shown.version = 1 as begins, shown.place + (shown.version = 1)::integer as place) next
      left join lateral (
        select v.version, v.newest,
          case when next.begins then ',' || rtrim(${typeObject(sql`${org.name}::text`)}::text, '}') || ', "versions": ['
            else ', ' end
          || ${versionObject}::text
          || case when v.version > 1 then '' else '], ' || ltrim((jsonb_build_object('created_by', t.created_by_name,
            'created_at', epoch(t.created_at), 'last_modified_at', epoch(t.last_modified_at))
            || ${described(sql`v.newest_description`)})::text, '{') end as text
        from (
          select * from attestation_types where org_id = ${id} and id = (${ids})[next.place]
            and (archived_at is null or not next.begins or ${asked.archived}::boolean)
          limit 1) t
        cross join lateral (
          select v.*, case when next.begins then v.version else shown.newest end as newest, (
            select n.description from attestation_type_versions n
            where n.org_id = ${id} and n.type_id = t.id
              and n.version = case when next.begins then v.version else shown.newest end) as newest_description
          from attestation_type_versions v
          where v.org_id = ${id} and v.type_id = t.id and (next.begins or v.version < shown.version)
          order by v.version desc limit 1) v) one on true
      where next.place <= cardinality(${ids}) and shown.bytes < ${constant(sliceBytes)}
    )
    select string_agg(text, '' order by step) as text, max(place) as place,
      (array_agg(version order by step desc))[1] as version, (array_agg(newest order by step desc))[1] as newest
    from shown`);
}

/** Finds a type with one of its versions, without what concerns all of them: a JSON object as text. */
export async function findTypeAtVersion(
  db: Executor,
  org: Org,
  name: string,
  version: number,
): Promise<string | undefined> {
  const row = await db.first(query({ text })`
    select (${typeObject(sql`${org.name}::text`)} || ${described(sql`v.description`)}
      || jsonb_build_object('versions', jsonb_build_array(${versionObject})))::text as text
    from attestation_types as t
    join attestation_type_versions as v on v.org_id = t.org_id and v.type_id = t.id
    where t.org_id = ${org.id} and t.name = ${name} and v.version = ${version}::bigint`);
  return row?.text;
}

const lockedType = { id: uuid, archived: boolean };

/** A type's row, new or old, locked until the transaction ends. */
export type LockedType = RowOf<typeof lockedType>;

/** Makes the type of this name if there is none, and makes the other writers of it wait. */
export async function lockType(
  tx: Tx,
  orgId: string,
  type: { id: string; name: string; created_by_name: string; created_at: Timestamp },
): Promise<LockedType> {
  const at = moment(type.created_at);
  await tx.run(sql`
    insert into attestation_types (org_id, id, name, created_by_name, created_at, last_modified_at)
    values (${orgId}, ${type.id}, ${type.name}, ${type.created_by_name}, ${at}, ${at})
    on conflict (org_id, name) do nothing`);
  return tx.one(query(lockedType)`
    select id, archived_at is not null as archived from attestation_types
    where org_id = ${orgId} and name = ${type.name} for no key update`);
}

/** Inserts a version of a locked type. */
export async function insertTypeVersion(
  tx: Tx,
  orgId: string,
  version: TypeDefinition & { type_id: string; version: number; created_by_name: string },
  at: Timestamp,
): Promise<void> {
  await tx.run(sql`
    insert into attestation_type_versions (org_id, type_id, version, description, type_schema, evaluator, summary,
      created_at, created_by_name)
    values (${orgId}, ${version.type_id}, ${version.version}, ${version.description}, ${jsonb(version.type_schema)},
      ${jsonb(version.evaluator)}, ${jsonb(version.summary)}, ${moment(at)}, ${version.created_by_name})`);
}

/** Records that a type changed, and takes it out of the archive. */
export async function updateTypeInUse(tx: Tx, orgId: string, typeId: string, at: Timestamp): Promise<void> {
  await tx.run(sql`
    update attestation_types set last_modified_at = ${moment(at)}, archived_at = null
    where org_id = ${orgId} and id = ${typeId}`);
}

/** Archives a type. @returns whether it was in use, or undefined when there is none of this name. */
export async function updateTypeArchived(
  tx: Tx,
  orgId: string,
  name: string,
  at: Timestamp,
): Promise<boolean | undefined> {
  const type = await tx.first(query(lockedType)`
    select id, archived_at is not null as archived from attestation_types
    where org_id = ${orgId} and name = ${name} for no key update`);
  if (type === undefined) return undefined;
  if (type.archived) return false;
  await tx.run(sql`
    update attestation_types set last_modified_at = ${moment(at)}, archived_at = ${moment(at)}
    where org_id = ${orgId} and id = ${type.id}`);
  return true;
}
