import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { moment } from "../../db/columns.ts";
import type { Role } from "../../domain/roles.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A service account that is not archived. */
export interface ServiceAccountRow {
  id: string;
  name: string;
  display_name: string;
  description: string;
  privilege: Role;
  creating_user_id: string;
  for_webhook: boolean;
  created_at: Timestamp;
}

export interface NewServiceAccount extends ServiceAccountRow {
  creating_user_name: string;
}

/** Inserts an account. @returns false when the name is taken; then nothing happened. */
export async function insertServiceAccount(
  tx: Tx,
  orgId: string,
  account: NewServiceAccount,
): Promise<boolean> {
  const inserted = await tx
    .insertInto("service_accounts")
    .values({ ...account, org_id: orgId, created_at: moment(account.created_at) })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "name"]).where("archived_at", "is", null).doNothing(),
    )
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows !== 0n;
}

function liveAccounts(db: Executor, orgId: string) {
  return db
    .selectFrom("service_accounts")
    .select([
      "id",
      "name",
      "display_name",
      "description",
      sql<Role>`privilege`.as("privilege"),
      "creating_user_id",
      "for_webhook",
      "created_at",
    ])
    .where("org_id", "=", orgId)
    .where("archived_at", "is", null);
}

/** The organization's accounts by name. */
export function listServiceAccounts(db: Executor, orgId: string): Promise<ServiceAccountRow[]> {
  return liveAccounts(db, orgId).orderBy("name").execute();
}

export function findServiceAccount(
  db: Executor,
  orgId: string,
  name: string,
): Promise<ServiceAccountRow | undefined> {
  return liveAccounts(db, orgId).where("name", "=", name).executeTakeFirst();
}

/** The same, and nobody changes or removes it until the transaction ends. */
export function findServiceAccountForUpdate(
  tx: Tx,
  orgId: string,
  name: string,
): Promise<ServiceAccountRow | undefined> {
  return liveAccounts(tx, orgId).where("name", "=", name).forNoKeyUpdate().executeTakeFirst();
}

export async function updateServiceAccount(
  tx: Tx,
  orgId: string,
  accountId: string,
  change: { description: string; privilege: Role },
): Promise<void> {
  await tx
    .updateTable("service_accounts")
    .set(change)
    .where("org_id", "=", orgId)
    .where("id", "=", accountId)
    .execute();
}

/** Takes an account out of use for good. Its name becomes free. */
export async function archiveServiceAccount(
  tx: Tx,
  orgId: string,
  accountId: string,
  at: Timestamp,
): Promise<void> {
  await tx
    .updateTable("service_accounts")
    .set({ archived_at: moment(at) })
    .where("org_id", "=", orgId)
    .where("id", "=", accountId)
    .execute();
}
