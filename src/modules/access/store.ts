import type { PreparedExecutor } from "../../db/connect.ts";
import type { Role } from "../../domain/roles.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** The owner of a working key, the organization asked for, and the role of one in the other. */
export interface CallerRow {
  key_id: string | null;
  kind: "user" | "service_account" | null;
  principal_id: string | null;
  name: string | null;
  display_name: string | null;
  instance_admin: boolean | null;
  org_id: string | null;
  org_name: string | null;
  org_kind: "personal" | "shared" | null;
  org_public: boolean | null;
  role: Role | null;
}

const statement = {
  name: "find-caller",
  text: `
    select k.id as key_id,
      case when u.id is not null then 'user' when s.id is not null then 'service_account' end as kind,
      coalesce(u.id, s.id) as principal_id,
      coalesce(u.name, s.name) as name,
      coalesce(nullif(u.display_name, ''), u.name, s.name) as display_name,
      u.instance_admin,
      o.id as org_id, o.name as org_name, o.kind as org_kind, o.public as org_public,
      coalesce(m.role, case when s.org_id = o.id then s.privilege end) as role
    from (values (true)) as always
    left join api_keys k on k.key_hash = $1
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > to_timestamp($3))
      and (k.grace_period_expires_at is null or k.grace_period_expires_at > to_timestamp($3))
    left join users u on u.id = k.user_id and u.disabled_at is null and u.deleted_at is null
    left join service_accounts s on s.org_id = k.org_id and s.id = k.service_account_id and s.archived_at is null
    left join organizations o on o.name = $2
    left join memberships m on m.org_id = o.id and m.user_id = u.id`,
};

/**
 * Looks up a key by its hash and an organization by its name, in one statement. Always answers one row; what was not
 * found, or no longer works, is null in it.
 */
export async function findCaller(
  db: PreparedExecutor,
  key: { hash: Buffer | null; org: string | null },
  at: Timestamp,
): Promise<CallerRow> {
  const [row] = await db.prepared<CallerRow>(statement, [key.hash, key.org, at]);
  if (row === undefined) throw new Error("find-caller answered no row");
  return row;
}

const roleStatement = {
  name: "find-role",
  text: `
    select coalesce(
      (select m.role from memberships m where m.org_id = $1 and m.user_id = $2),
      (select s.privilege from service_accounts s where s.org_id = $1 and s.id = $2 and s.archived_at is null)
    ) as role`,
};

/** The role of a user or service account in an organization; undefined without one. */
export async function findRole(
  db: PreparedExecutor,
  orgId: string,
  principalId: string,
): Promise<Role | undefined> {
  const [row] = await db.prepared<{ role: Role | null }>(roleStatement, [orgId, principalId]);
  return row?.role ?? undefined;
}
