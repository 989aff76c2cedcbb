import { boolean, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { param, query, sql } from "../../../db/sql.ts";
import { stateOfRows } from "../../../db/state-sql.ts";
import type { Executor } from "../../../db/connect.ts";
import { overloaded } from "../../../domain/errors.ts";
import { organizationKinds, principalKinds } from "../../../domain/principal.ts";
import { type Role, roles } from "../../../domain/roles.ts";
import { type Batcher, createBatcher } from "../../../lib/batcher.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { KnownInState } from "../../../lib/known-in-state.ts";
import { idleEndOf, lastsAt } from "./session-sql.ts";

const caller = {
  key_id: nullable(uuid),
  session_id: nullable(uuid),
  kind: nullable(oneOf(principalKinds)),
  principal_id: nullable(uuid),
  name: nullable(text),
  display_name: nullable(text),
  instance_admin: nullable(boolean),
  account_org_id: nullable(uuid),
  org_id: nullable(uuid),
  org_name: nullable(text),
  org_kind: nullable(oneOf(organizationKinds)),
  org_public: nullable(boolean),
  role: nullable(oneOf(roles)),
  ends_at: nullable(timestamp),
  state: nullable(text),
};

/**
 * The owner of a working key or session, the organization asked for, and the role of the one in the other: from when on that no longer holds by itself, and
 * in which state of the database it was found (see `stateOfRows`).
 */
export type CallerRow = RowOf<typeof caller>;

/** What a request carries, by its SHA-256: a key, or else the session of a cookie. */
export interface Credential {
  key: Buffer | null;
  session: Buffer | null;
}

interface Asked extends Credential {
  org: string | null;
  at: Timestamp;
}

/** Lookups made in one statement at most. */
const maxLookups = 100;

/** Some seconds' worth: who waits longer has given up. */
const maxWaitingLookups = 10_000;

/**
 * Looks up what several requests ask for, a row each in their order. A secret is a key's own, or one it had before its last
 * rotations that still has grace. A session acts as its key's owner, or as its own where it has no key. Each row is looked up on its own: a plan that joins would read whole tables while
 * statistics are young.
 */
function listCallers(db: Executor, asked: readonly Asked[]): Promise<CallerRow[]> {
  return db.all(query("list-callers", caller, { pipelined: true })`
    select k.id as key_id, w.id as session_id,
      case when u.id is not null then 'user' when s.id is not null then 'service_account' end as kind,
      coalesce(u.id, s.id) as principal_id,
      coalesce(u.name, s.name) as name,
      coalesce(nullif(u.display_name, ''), u.name, s.name) as display_name,
      u.instance_admin, s.org_id as account_org_id,
      o.id as org_id, o.name as org_name, o.kind as org_kind, o.public as org_public,
      coalesce(m.role, case when s.org_id = o.id then s.privilege end) as role,
      case when k.is_former then to_timestamp(asked.at) else least(k.expires_at, ${idleEndOf("w")}) end as ends_at,
      (select ${stateOfRows}) as state
    -- Not the parameters themselves: their length would count in the plan, which would be made each time.
    from unnest((select ${asked.map(({ key }) => key)}::bytea[]), (select ${asked.map(({ session }) => session)}::bytea[]),
      (select ${asked.map(({ org }) => org)}::text[]), (select ${asked.map(({ at }) => at)}::float8[]))
      with ordinality as asked (key_hash, token_hash, org, at, position)
    left join lateral (
      select w.id, w.api_key_id, w.user_id, w.created_at, w.last_used_at, w.ends_at from sessions w
      where w.token_hash = asked.token_hash and ${lastsAt("w", sql`to_timestamp(asked.at)`)}
      limit 1) w on true
    left join lateral (
      select * from (
        select *, false as is_former from api_keys where key_hash = asked.key_hash
        union all
        select *, true from api_keys where id = (
          select former.key_id from api_key_former_secrets former
          where former.key_hash = asked.key_hash and former.ends_at > to_timestamp(asked.at))
        union all
        select *, false from api_keys where id = w.api_key_id
      ) k
      where k.revoked_at is null and (k.expires_at is null or k.expires_at > to_timestamp(asked.at))
      limit 1) k on true
    left join lateral (
      select * from users u
      where u.id = case when w.id is not null and w.api_key_id is null then w.user_id else k.user_id end
        and u.disabled_at is null and u.deleted_at is null limit 1
    ) u on true
    left join lateral (
      select * from service_accounts s
      where s.org_id = k.org_id and s.id = k.service_account_id and s.archived_at is null limit 1) s on true
    left join lateral (select * from organizations o where o.name = asked.org limit 1) o on true
    left join lateral (
      select m.role from memberships m where m.org_id = o.id and m.user_id = u.id limit 1) m on true
    order by asked.position`);
}

/** Asks in which state the database is. */
async function findState(db: Executor): Promise<string | null> {
  return (
    await db.one(
      query("state-of-rows", { state: caller.state }, { pipelined: true })`select ${stateOfRows} as state`,
    )
  ).state;
}

/** Names what is asked for. Hashes have the same length, so that no two of these are alike. */
function nameOf({ key, session, org }: Asked): string {
  if (key !== null) return `k${key.toString("latin1")}${org ?? ""}`;
  return session === null ? `n${org ?? ""}` : `s${session.toString("latin1")}${org ?? ""}`;
}

/** Looks up what several requests ask for, or finds that the database is as it was when that was known. */
async function listKnownCallers(
  db: Executor,
  known: KnownInState<CallerRow>,
  asked: readonly Asked[],
): Promise<CallerRow[]> {
  const named = asked.map((one) => ({ name: nameOf(one), at: one.at }));
  const recalled = known.recall(named);
  if (recalled !== undefined && (await findState(db)) === recalled.state) return recalled.values;
  const sentAt = performance.now();
  const rows = await listCallers(db, asked);
  known.note(named, rows, sentAt);
  return rows;
}

const lookups = new WeakMap<Executor, Batcher<Asked, CallerRow>>();

function createLookup(db: Executor): Batcher<Asked, CallerRow> {
  const known = new KnownInState<CallerRow>();
  return createBatcher({
    maxItems: maxLookups,
    concurrency: 2,
    limits: { maxWaiting: maxWaitingLookups, refusal: overloaded },
    // Nothing a caller sends makes the statement fail: if it does, for all alike.
    isShared: () => true,
    write: (asked) => listKnownCallers(db, known, asked),
  });
}

/**
 * Looks up a key or a session by its hash and an organization by its name. Always answers one row; what was not found, or no longer
 * works, is null in it. Requests that arrive together are looked up together, each as of now.
 */
export function findCaller(
  db: Executor,
  asked: Credential & { org: string | null },
  at: Timestamp,
): Promise<CallerRow> {
  const lookup = lookups.get(db) ?? createLookup(db);
  lookups.set(db, lookup);
  return lookup.submit({ ...asked, at });
}

/** Finds the role of a user or service account in an organization; undefined without one. */
export async function findRole(db: Executor, orgId: string, principalId: string): Promise<Role | undefined> {
  const [org, principal] = [param(orgId), param(principalId)];
  const found = await db.first(query("find-role", { role: caller.role }, { pipelined: true })`
    select coalesce(
      (select m.role from memberships m where m.org_id = ${org} and m.user_id = ${principal}),
      (select s.privilege from service_accounts s
        where s.org_id = ${org} and s.id = ${principal} and s.archived_at is null)
    ) as role`);
  return found?.role ?? undefined;
}
