import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, type Query, type Sql, sql } from "../../../db/sql.ts";
import { type Role, roles } from "../../../domain/roles.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const account = {
  id: uuid,
  name: text,
  display_name: text,
  description: text,
  privilege: oneOf(roles),
  creating_user_id: uuid,
  for_webhook: boolean,
  created_at: timestamp,
};

/** A service account that is not archived. */
export type ServiceAccountRow = RowOf<typeof account>;

export interface NewServiceAccount extends ServiceAccountRow {
  creating_user_name: string;
}

/** Inserts an account. @returns false when the name is taken; then nothing happened. */
export async function insertServiceAccount(tx: Tx, orgId: string, made: NewServiceAccount): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into service_accounts (org_id, id, name, display_name, description, privilege, creating_user_id,
      creating_user_name, for_webhook, created_at)
    values (${orgId}, ${made.id}, ${made.name}, ${made.display_name}, ${made.description}, ${made.privilege},
      ${made.creating_user_id}, ${made.creating_user_name}, ${made.for_webhook}, ${moment(made.created_at)})
    on conflict (org_id, name) where archived_at is null do nothing`);
  return inserted > 0;
}

function liveAccounts(orgId: string, rest: Sql): Query<ServiceAccountRow> {
  return query(account)`
    select id, name, display_name, description, privilege, creating_user_id, for_webhook, created_at
    from service_accounts where org_id = ${orgId} and archived_at is null ${rest}`;
}

/** Lists the organization's accounts by name. */
export function listServiceAccounts(db: Executor, orgId: string): Promise<ServiceAccountRow[]> {
  return db.all(liveAccounts(orgId, sql`order by name`));
}

/** Finds an account by name. */
export function findServiceAccount(
  db: Executor,
  orgId: string,
  name: string,
): Promise<ServiceAccountRow | undefined> {
  return db.first(liveAccounts(orgId, sql`and name = ${name}`));
}

/** Finds an account by name, which nobody changes or removes until the transaction ends. */
export function findServiceAccountForUpdate(
  tx: Tx,
  orgId: string,
  name: string,
): Promise<ServiceAccountRow | undefined> {
  return tx.first(liveAccounts(orgId, sql`and name = ${name} for no key update`));
}

/** Changes an account; its keys have the new privilege at once. */
export async function updateServiceAccount(
  tx: Tx,
  orgId: string,
  accountId: string,
  { description, privilege }: { description: string; privilege: Role },
): Promise<void> {
  await tx.run(sql`
    update service_accounts set description = ${description}, privilege = ${privilege}
    where org_id = ${orgId} and id = ${accountId}`);
}

/** Takes an account out of use for good. Its name becomes free. */
export async function archiveServiceAccount(
  tx: Tx,
  orgId: string,
  accountId: string,
  at: Timestamp,
): Promise<void> {
  await tx.run(sql`
    update service_accounts set archived_at = ${moment(at)} where org_id = ${orgId} and id = ${accountId}`);
}
