import { boolean, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, param, query, sql } from "../../../db/sql.ts";
import { stateOfRows } from "../../../db/state-sql.ts";
import type { Executor } from "../../../db/connect.ts";
import { overloaded } from "../../../domain/errors.ts";
import { organizationKinds, principalKinds } from "../../../domain/principal.ts";
import { roles } from "../../../domain/roles.ts";
import { type Batcher, createBatcher } from "../../../lib/batcher.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { KnownInState } from "../../../lib/known-in-state.ts";
import { deadlineOf, endByRules, installationId, weakerOf } from "./key-rules-sql.ts";
import { idleEndOf, isTaken, lastsAt } from "./session-sql.ts";

/** Whose list of networks an address is not in. */
const refusers = ["key", "installation", "organization"] as const;

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
  /** The most that the key may, in any organization; null for as much as its owner. */
  key_role: nullable(oneOf(roles)),
  /** Whether the key works from some networks alone. */
  is_bound: boolean,
  refused_by: nullable(oneOf(refusers)),
  /** Whether the organization wants people to come by the sign-in provider, and this is a session that was begun with a key. */
  wants_provider: boolean,
  /** From when on the organization takes this key of a person no more. */
  org_ends_at: nullable(timestamp),
  ends_at: nullable(timestamp),
  /** Whether the session was begun at a sign-in provider, and when the person last proved there who they are. */
  is_of_provider: boolean,
  proved_at: nullable(timestamp),
  /** Whether there are rules for keys, whosever. */
  has_rules: boolean,
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
  /** Where the request comes from, in a form that `inet` takes; null where that is not known, which is in no list. */
  address: string | null;
  at: Timestamp;
}

/** Lookups made in one statement at most. */
const maxLookups = 100;

/** Some seconds' worth: who waits longer has given up. */
const maxWaitingLookups = 10_000;

/** SQL for: whether somebody has rules for keys, looked up once for a statement. */
const someRules = sql`(select exists (select from security_rules))`;

/** SQL for: what the rules of the installation, of a service account's organization and of the one asked for say of a caller. */
const rulesFor = sql`
      select
        bool_or(r.org_id = ${installationId}) filter (where r.is_elsewhere) as installation_refuses,
        bool_or(r.org_id = s.org_id or (r.org_id = o.id and m.role is not null))
          filter (where r.is_elsewhere) as organization_refuses,
        bool_or(r.sso_only and r.org_id = o.id) as wants_provider,
        min(r.ends_at) filter (where r.org_id = o.id) as org_ends_at
      from (
        select rule.org_id, rule.sso_only, rule.allowed_addresses is not null
            and (asked.address <<= any(rule.allowed_addresses)) is not true as is_elsewhere,
          case when k.user_id is not null then ${endByRules("k", "rule")} end as ends_at
        from security_rules rule where rule.org_id in (${installationId}, s.org_id, o.id)) r`;

/** The parts of `listCallers` that are about rules: they are two fifths of it, and few installations have any. */
const withRules = { deadline: deadlineOf("k"), isSessionTaken: isTaken("w"), rules: rulesFor };
const withoutRules: typeof withRules = {
  deadline: sql`null::timestamptz`,
  isSessionTaken: sql`true`,
  rules: sql`select null::boolean as installation_refuses, null::boolean as organization_refuses,
    null::boolean as wants_provider, null::timestamptz as org_ends_at`,
};

/**
 * SQL for: what is asked for, a numbered row each. Not the parameters themselves: their length would count in the plan, which
 * would be made each time.
 */
function rowsOf(asked: readonly Asked[]) {
  return sql`unnest((select ${asked.map(({ key }) => key)}::bytea[]), (select ${asked.map(({ session }) => session)}::bytea[]),
      (select ${asked.map(({ org }) => org)}::text[]), (select ${asked.map(({ address }) => address)}::inet[]),
      (select ${asked.map(({ at }) => at)}::float8[]))
      with ordinality as asked (key_hash, token_hash, org, address, at, position)`;
}

/**
 * Looks up what several requests ask for, a row each in their order. A secret is a key's own, or one it had before its last
 * rotations that still has grace. A session acts as its key's owner, or as its own where it has no key. Keys end by rules as they do by themselves. Each row is looked up on its
 * own: a plan that joins would read whole tables while statistics are young.
 * @param byRules whether rules are followed; if not, the answer holds unless it says that there are some.
 */
function listCallers(db: Executor, asked: readonly Asked[], byRules: boolean): Promise<CallerRow[]> {
  // Two statements, so two names.
  const name = byRules ? "list-callers-by-rules" : "list-callers";
  const { deadline, isSessionTaken, rules } = byRules ? withRules : withoutRules;
  return db.all(query(name, caller, { pipelined: true })`
    select k.id as key_id, w.id as session_id,
      case when u.id is not null then 'user' when s.id is not null then 'service_account' end as kind,
      coalesce(u.id, s.id) as principal_id, coalesce(u.name, s.name) as name,
      coalesce(nullif(u.display_name, ''), u.name, s.name) as display_name,
      u.instance_admin and k.role is null and k.allowed_addresses is null as instance_admin, s.org_id as account_org_id,
      o.id as org_id, o.name as org_name, o.kind as org_kind, o.public as org_public,
      ${weakerOf(sql`coalesce(m.role, case when s.org_id = o.id then s.privilege end)`, sql`k.role`)} as role,
      k.role as key_role, k.allowed_addresses is not null as is_bound,
      case
        when k.allowed_addresses is not null and (asked.address <<= any(k.allowed_addresses)) is not true then 'key'
        when rules.installation_refuses then 'installation'
        when rules.organization_refuses then 'organization'
      end as refused_by,
      coalesce(rules.wants_provider and m.role is not null and w.api_key_id is not null, false) as wants_provider,
      rules.org_ends_at,
      case when k.is_former then to_timestamp(asked.at)
        else least(k.expires_at, k.deadline_at, ${idleEndOf("w")},
          case when rules.org_ends_at > to_timestamp(asked.at) then rules.org_ends_at end) end as ends_at,
      w.issuer is not null as is_of_provider, w.proved_at, ${someRules} as has_rules,
      (select ${stateOfRows}) as state
    from ${rowsOf(asked)}
    left join lateral (
      select w.id, w.api_key_id, w.user_id, w.created_at, w.last_used_at, w.ends_at, w.issuer, w.proved_at
      from sessions w
      where w.token_hash = asked.token_hash and ${lastsAt("w", sql`to_timestamp(asked.at)`)} and ${isSessionTaken}
      limit 1) w on true
    left join lateral (
      select k.*, ends.deadline_at from (
        select *, false as is_former from api_keys where key_hash = asked.key_hash
        union all
        select *, true from api_keys where id = (
          select former.key_id from api_key_former_secrets former
          where former.key_hash = asked.key_hash and former.ends_at > to_timestamp(asked.at))
        union all
        select *, false from api_keys where id = w.api_key_id
      ) k
      cross join lateral (select ${deadline} as deadline_at) ends
      where k.revoked_at is null and (k.expires_at is null or k.expires_at > to_timestamp(asked.at))
        and (ends.deadline_at is null or ends.deadline_at > to_timestamp(asked.at))
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
    left join lateral (${rules}) rules on true
    order by asked.position`);
}

/** Whether there were rules when callers were last looked up. */
interface RulesSeen {
  some: boolean;
}

/** Looks callers up by rules where there are some: as the statement itself found, never as it was a moment ago. */
async function listCallersAsRuled(
  db: Executor,
  seen: RulesSeen,
  asked: readonly Asked[],
): Promise<CallerRow[]> {
  if (!seen.some) {
    const rows = await listCallers(db, asked, false);
    if (rows[0]?.has_rules !== true) return rows;
  }
  const rows = await listCallers(db, asked, true);
  seen.some = rows[0]?.has_rules === true;
  return rows;
}

/** Asks in which state the database is. */
async function findState(db: Executor): Promise<string | null> {
  return (
    await db.one(
      query("state-of-rows", { state: caller.state }, { pipelined: true })`select ${stateOfRows} as state`,
    )
  ).state;
}

/**
 * Names what is asked for. Hashes have the same length and addresses no blank, so that no two of these are alike. The address is part of it: what was
 * found of a caller says where they may come from.
 */
function nameOf({ key, session, org, address }: Asked): string {
  const from = `${address ?? ""} ${org ?? ""}`;
  if (key !== null) return `k${key.toString("latin1")}${from}`;
  return session === null ? `n${org ?? ""}` : `s${session.toString("latin1")}${from}`;
}

/** Looks up what several requests ask for, or finds that the database is as it was when that was known. */
async function listKnownCallers(
  db: Executor,
  { known, seen }: { known: KnownInState<CallerRow>; seen: RulesSeen },
  asked: readonly Asked[],
): Promise<CallerRow[]> {
  const named = asked.map((one) => ({ name: nameOf(one), at: one.at }));
  const recalled = known.recall(named);
  if (recalled !== undefined && (await findState(db)) === recalled.state) return recalled.values;
  const sentAt = performance.now();
  const rows = await listCallersAsRuled(db, seen, asked);
  known.note(named, rows, sentAt);
  return rows;
}

const lookups = new WeakMap<Executor, Batcher<Asked, CallerRow>>();

/** Finds what looks callers up in a database. */
export function lookupIn(db: Executor): Batcher<Asked, CallerRow> {
  const lookup = lookups.get(db) ?? createLookup(db);
  lookups.set(db, lookup);
  return lookup;
}

function createLookup(db: Executor): Batcher<Asked, CallerRow> {
  const remembered = { known: new KnownInState<CallerRow>(), seen: { some: false } };
  return createBatcher({
    maxItems: maxLookups,
    concurrency: 2,
    limits: { maxWaiting: maxWaitingLookups, refusal: overloaded },
    // Nothing a caller sends makes the statement fail: if it does, for all alike.
    isShared: () => true,
    write: (asked) => listKnownCallers(db, remembered, asked),
  });
}

/**
 * Looks up a key or a session by its hash and an organization by its name. Always answers one row; what was not found, or no longer
 * works, is null in it. Requests that arrive together are looked up together, each as of now.
 */
export function findCaller(
  db: Executor,
  asked: Credential & { org: string | null; address: string | null },
  at: Timestamp,
): Promise<CallerRow> {
  return lookupIn(db).submit({ ...asked, at });
}

const access = { role: caller.role, is_refused: boolean };

/** What somebody may in an organization. */
export type RoleRow = RowOf<typeof access>;

/** Somebody who asks with a key, and from where. */
interface Asker {
  id: string;
  key_id: string | null;
  address: string | null;
  at: Timestamp;
}

/**
 * Finds the role of a user or service account in an organization, null without one, and whether its rules refuse their address or their key's age.
 */
export async function findRole(db: Executor, orgId: string, asker: Asker): Promise<RoleRow> {
  const { id, key_id, address, at } = asker;
  const [org, principal] = [param(orgId), param(id)];
  return db.one(query("find-role", access, { pipelined: true })`
    select coalesce(
      (select m.role from memberships m where m.org_id = ${org} and m.user_id = ${principal}),
      (select s.privilege from service_accounts s
        where s.org_id = ${org} and s.id = ${principal} and s.archived_at is null)
    ) as role,
    exists (
      select from security_rules rule left join api_keys k on k.id = ${key_id} and k.user_id is not null
      where rule.org_id = ${org} and (
        (rule.allowed_addresses is not null and (${address}::inet <<= any(rule.allowed_addresses)) is not true)
        or (k.id is not null and ${endByRules("k", "rule")} <= ${moment(at)}))) as is_refused`);
}
