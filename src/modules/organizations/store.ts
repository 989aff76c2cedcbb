import type { Executor, Tx } from "../../db/connect.ts";
import { moment } from "../../db/columns.ts";
import type { Timestamp } from "../../lib/clock.ts";

export interface NewOrganization {
  id: string;
  name: string;
  kind: "personal" | "shared";
  owner_user_id: string | null;
  created_at: Timestamp;
}

/** Inserts an organization with its counters. The name must be free. */
export async function insertOrganization(tx: Tx, organization: NewOrganization): Promise<void> {
  const at = moment(organization.created_at);
  await tx
    .insertInto("organizations")
    .values({ ...organization, created_at: at, last_modified_at: at })
    .execute();
  await tx.insertInto("org_counters").values({ org_id: organization.id }).execute();
}

/** An organization as it is shown. */
export interface OrganizationRow {
  name: string;
  kind: "personal" | "shared";
  display_name: string;
  description: string;
  public: boolean;
  created_at: Timestamp;
  last_modified_at: Timestamp;
}

/** The organization with this id, which must exist. */
export async function getOrganization(db: Executor, orgId: string): Promise<OrganizationRow> {
  const row = await db
    .selectFrom("organizations")
    .select(["name", "kind", "display_name", "description", "public", "created_at", "last_modified_at"])
    .where("id", "=", orgId)
    .executeTakeFirstOrThrow();
  return { ...row, kind: row.kind === "personal" ? "personal" : "shared" };
}
