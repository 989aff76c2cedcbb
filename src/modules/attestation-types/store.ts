import { sql } from "kysely";

import { jsonbOrNull, moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { TypeDefinition } from "../../domain/attestation-types/definition.ts";
import type { TypeReference } from "../../domain/attestation-types/reference.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** One version of a type. */
export interface TypeVersion extends TypeDefinition {
  org_id: string;
  id: string;
  name: string;
  archived: boolean;
  version: number;
}

/** The version meant, or the latest; archived types too. Undefined when there is no such type or version. */
export async function findTypeVersion(
  db: Executor,
  orgId: string,
  { name, version }: TypeReference,
): Promise<TypeVersion | undefined> {
  const { rows } = await sql<TypeVersion>`
    select t.org_id, t.id, t.name, t.archived_at is not null as archived,
      v.version, v.description, v.type_schema, v.evaluator, v.summary
    from attestation_types as t
    join attestation_type_versions as v on v.org_id = t.org_id and v.type_id = t.id
    where t.org_id = ${orgId} and t.name = ${name}
      and (${version ?? null}::integer is null or v.version = ${version ?? null}::integer)
    order by v.version desc limit 1`.execute(db);
  return rows[0];
}

/** A type's row, new or old, locked until the transaction ends. */
export interface LockedType {
  id: string;
  archived: boolean;
}

/** Makes the type of this name if there is none, and makes the other writers of it wait. */
export async function lockType(
  tx: Tx,
  orgId: string,
  type: { id: string; name: string; created_by_name: string; created_at: Timestamp },
): Promise<LockedType> {
  const created_at = moment(type.created_at);
  await tx
    .insertInto("attestation_types")
    .values({ ...type, org_id: orgId, created_at, last_modified_at: created_at })
    .onConflict((conflict) => conflict.columns(["org_id", "name"]).doNothing())
    .execute();
  const { id, archived_at } = await tx
    .selectFrom("attestation_types")
    .select(["id", "archived_at"])
    .where("org_id", "=", orgId)
    .where("name", "=", type.name)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return { id, archived: archived_at !== null };
}

/** Inserts a version of a locked type. */
export async function insertTypeVersion(
  tx: Tx,
  orgId: string,
  version: TypeDefinition & { type_id: string; version: number; created_by_name: string },
  at: Timestamp,
): Promise<void> {
  const { type_id, version: number, description, created_by_name } = version;
  await tx
    .insertInto("attestation_type_versions")
    .values({
      org_id: orgId,
      type_id,
      version: number,
      description,
      type_schema: jsonbOrNull(version.type_schema),
      evaluator: jsonbOrNull(version.evaluator),
      summary: jsonbOrNull(version.summary),
      created_at: moment(at),
      created_by_name,
    })
    .execute();
}

/** Notes that a type changed, and that it is in use. */
export async function updateTypeInUse(tx: Tx, orgId: string, typeId: string, at: Timestamp): Promise<void> {
  await tx
    .updateTable("attestation_types")
    .set({ last_modified_at: moment(at), archived_at: null })
    .where("org_id", "=", orgId)
    .where("id", "=", typeId)
    .execute();
}

/** Archives a type. @returns whether it was in use, or undefined when there is none of this name. */
export async function updateTypeArchived(
  tx: Tx,
  orgId: string,
  name: string,
  at: Timestamp,
): Promise<boolean | undefined> {
  const type = await tx
    .selectFrom("attestation_types")
    .select(["id", "archived_at"])
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (type === undefined) return undefined;
  if (type.archived_at !== null) return false;
  await tx
    .updateTable("attestation_types")
    .set({ last_modified_at: moment(at), archived_at: moment(at) })
    .where("org_id", "=", orgId)
    .where("id", "=", type.id)
    .execute();
  return true;
}
