import type { PreparedExecutor, PreparedStatement } from "../../db/connect.ts";
import { overloaded } from "../../domain/errors.ts";
import type { Role } from "../../domain/roles.ts";
import { type Batcher, createBatcher } from "../../lib/batcher.ts";
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

// A secret is a key's own, or one it had before its last rotations that still has grace.
// Each row is looked up on its own: a plan that joins would read whole tables while statistics are young.
const statement: PreparedStatement = {
  name: "list-callers",
  brief: true,
  text: `
    select k.id as key_id,
      case when u.id is not null then 'user' when s.id is not null then 'service_account' end as kind,
      coalesce(u.id, s.id) as principal_id,
      coalesce(u.name, s.name) as name,
      coalesce(nullif(u.display_name, ''), u.name, s.name) as display_name,
      u.instance_admin,
      o.id as org_id, o.name as org_name, o.kind as org_kind, o.public as org_public,
      coalesce(m.role, case when s.org_id = o.id then s.privilege end) as role
    from unnest($1::bytea[], $2::text[], $3::float8[]) with ordinality as asked (key_hash, org, at, position)
    left join lateral (
      select * from (
        select * from api_keys where key_hash = asked.key_hash
        union all
        select * from api_keys where id = (
          select former.key_id from api_key_former_secrets former
          where former.key_hash = asked.key_hash and former.ends_at > to_timestamp(asked.at))
      ) k
      where k.revoked_at is null and (k.expires_at is null or k.expires_at > to_timestamp(asked.at))
      limit 1) k on true
    left join lateral (
      select * from users u where u.id = k.user_id and u.disabled_at is null and u.deleted_at is null limit 1
    ) u on true
    left join lateral (
      select * from service_accounts s
      where s.org_id = k.org_id and s.id = k.service_account_id and s.archived_at is null limit 1) s on true
    left join lateral (select * from organizations o where o.name = asked.org limit 1) o on true
    left join lateral (
      select m.role from memberships m where m.org_id = o.id and m.user_id = u.id limit 1) m on true
    order by asked.position`,
};

interface Asked {
  hash: Buffer | null;
  org: string | null;
  at: Timestamp;
}

/** Lookups made in one statement at most. */
const maxLookups = 100;

/** Some seconds' worth: who waits longer has given up. */
const maxWaitingLookups = 10_000;

const lookups = new WeakMap<PreparedExecutor, Batcher<Asked, CallerRow>>();

function createLookup(db: PreparedExecutor): Batcher<Asked, CallerRow> {
  return createBatcher({
    maxItems: maxLookups,
    concurrency: 2,
    room: { maxWaiting: maxWaitingLookups, full: overloaded },
    // Nothing a caller sends makes the statement fail: if it does, for all alike.
    isShared: () => true,
    write: (asked) =>
      db.prepared<CallerRow>(statement, [
        asked.map(({ hash }) => hash),
        asked.map(({ org }) => org),
        asked.map(({ at }) => at),
      ]),
  });
}

/**
 * Looks up a key by its hash and an organization by its name. Always answers one row; what was not found, or no longer
 * works, is null in it. Requests that arrive together are looked up together, each as of now.
 */
export function findCaller(
  db: PreparedExecutor,
  key: { hash: Buffer | null; org: string | null },
  at: Timestamp,
): Promise<CallerRow> {
  const lookup = lookups.get(db) ?? createLookup(db);
  lookups.set(db, lookup);
  return lookup.submit({ ...key, at });
}

const roleStatement: PreparedStatement = {
  name: "find-role",
  brief: true,
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
