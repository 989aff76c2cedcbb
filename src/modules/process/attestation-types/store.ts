import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, integer, json, nullable, type RowOf, text, uuid } from "../../../db/row.ts";
import { jsonb, moment, query, type Sql, sql } from "../../../db/sql.ts";
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

const shownType = { text };

/** Selects types as they are shown, as JSON text: `t` with its versions `v`, newest first. More conditions may follow. */
function shownTypes(org: Org, parts: { facts: Sql; which: Sql }): Sql {
  return sql`
    select (
      jsonb_build_object('name', t.name, 'org', ${org.name}::text, 'archived', t.archived_at is not null)
      || ${parts.facts}
      || case when (v.descriptions)[1] is null then '{}'
           else jsonb_build_object('description', (v.descriptions)[1]) end
      || jsonb_build_object('versions', v.versions)
    )::text as text
    from attestation_types as t
    cross join lateral (
      select array_agg(v.description order by v.version desc) as descriptions,
        jsonb_agg(jsonb_build_object(
          'version', v.version, 'timestamp', epoch(v.created_at), 'created_by', v.created_by_name,
          'type_schema', v.type_schema, 'evaluator', coalesce(v.evaluator, ${withoutRules}::jsonb), 'summary', v.summary
        ) order by v.version desc) as versions
      from attestation_type_versions as v
      where v.org_id = ${org.id} and v.type_id = t.id and ${parts.which}
    ) as v
    where t.org_id = ${org.id} and v.versions is not null`;
}

const wholeType = {
  facts: sql`jsonb_build_object('created_by', t.created_by_name, 'created_at', epoch(t.created_at),
    'last_modified_at', epoch(t.last_modified_at))`,
  which: sql`true`,
};

/** Lists the types that are not archived, newest first, with all their versions, newest first: a JSON array as text. */
export async function listTypes(db: Executor, org: Org): Promise<string> {
  const rows = await db.all(query(shownType)`${shownTypes(org, wholeType)} and t.archived_at is null
    order by t.created_at desc, t.id desc`);
  return `[${rows.map((row) => row.text).join(",")}]`;
}

/** Finds a type with all its versions: a JSON object as text. */
export async function findType(db: Executor, org: Org, name: string): Promise<string | undefined> {
  const row = await db.first(query(shownType)`${shownTypes(org, wholeType)} and t.name = ${name}`);
  return row?.text;
}

/** Finds a type with one of its versions, without what concerns all of them: a JSON object as text. */
export async function findTypeAtVersion(
  db: Executor,
  org: Org,
  name: string,
  version: number,
): Promise<string | undefined> {
  const parts = { facts: sql`'{}'::jsonb`, which: sql`v.version = ${version}::bigint` };
  const row = await db.first(query(shownType)`${shownTypes(org, parts)} and t.name = ${name}`);
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
