import type { Executor, Tx } from "../../../db/connect.ts";
import {
  boolean,
  integer,
  nullable,
  oneOf,
  type RowOf,
  text,
  texts,
  timestamp,
  uuid,
} from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import { type KeyKind, type KeyRules, lastTightened, type TightenedAt } from "../../../domain/key-rules.ts";
import { principalKinds } from "../../../domain/principal.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { endByRules, endOfKey, installationId } from "./key-rules-sql.ts";

const rules = {
  org_id: uuid,
  max_personal_key_age_days: nullable(integer),
  max_service_key_age_days: nullable(integer),
  require_expiry: boolean,
  warn_days: integer,
  unused_days: nullable(integer),
  allowed_addresses: nullable(texts),
  sso_only: boolean,
  personal: nullable(timestamp),
  service: nullable(timestamp),
  expiry: nullable(timestamp),
};

/** The rules of an organization, or of the installation. */
export interface StoredRules {
  org_id: string;
  rules: KeyRules;
  tightened: TightenedAt;
}

function read(row: RowOf<typeof rules>): StoredRules {
  const { org_id, personal, service, expiry, max_personal_key_age_days, max_service_key_age_days, ...rest } =
    row;
  const max_key_age_days = { personal: max_personal_key_age_days, service: max_service_key_age_days };
  return { org_id, tightened: { personal, service, expiry }, rules: { max_key_age_days, ...rest } };
}

/** Lists the rules of these organizations that have some; the installation is one of them. */
export async function listRules(db: Executor, orgIds: readonly string[]): Promise<StoredRules[]> {
  const rows = await db.all(query(rules)`
    select org_id, max_personal_key_age_days, max_service_key_age_days, require_expiry, warn_days, unused_days,
      allowed_addresses::text[], sso_only, coalesce(personal_tightened_at, tightened_at) as personal,
      coalesce(service_tightened_at, tightened_at) as service, coalesce(expiry_tightened_at, tightened_at) as expiry
    from security_rules where org_id = any(${orgIds}::uuid[])`);
  return rows.map(read);
}

/** Keeps the rules of an organization, or of the installation, in place of those before. */
export async function upsertRules(tx: Tx, stored: StoredRules, at: Timestamp): Promise<void> {
  const { org_id, tightened } = stored;
  const { max_key_age_days: age, require_expiry, warn_days, unused_days, ...rest } = stored.rules;
  await tx.run(sql`
    insert into security_rules (org_id, max_personal_key_age_days, max_service_key_age_days, require_expiry, warn_days,
      unused_days, allowed_addresses, sso_only, tightened_at, personal_tightened_at, service_tightened_at,
      expiry_tightened_at, changed_at)
    values (${org_id}, ${age.personal}, ${age.service}, ${require_expiry}, ${warn_days}, ${unused_days},
      ${rest.allowed_addresses}::cidr[], ${rest.sso_only}, ${moment(lastTightened(tightened))},
      ${moment(tightened.personal)}, ${moment(tightened.service)}, ${moment(tightened.expiry)}, ${moment(at)})
    on conflict (org_id) do update set (max_personal_key_age_days, max_service_key_age_days, require_expiry, warn_days,
        unused_days, allowed_addresses, sso_only, tightened_at, personal_tightened_at, service_tightened_at,
        expiry_tightened_at, changed_at)
      = (excluded.max_personal_key_age_days, excluded.max_service_key_age_days, excluded.require_expiry,
        excluded.warn_days, excluded.unused_days, excluded.allowed_addresses, excluded.sso_only,
        excluded.tightened_at, excluded.personal_tightened_at, excluded.service_tightened_at,
        excluded.expiry_tightened_at, excluded.changed_at)`);
}

/** The age of a kind of keys that a stricter one takes the place of. */
export interface FormerAge {
  kind: KeyKind;
  max_days: number;
  tightened_at: Timestamp | null;
  replaced_at: Timestamp;
}

/** Keeps an age, so that the keys it has ended stay ended. */
export async function insertFormerAge(tx: Tx, orgId: string, former: FormerAge): Promise<void> {
  await tx.run(sql`
    insert into former_key_ages (org_id, kind, max_days, tightened_at, replaced_at)
    values (${orgId}, ${former.kind}, ${former.max_days}, ${moment(former.tightened_at)}, ${moment(former.replaced_at)})`);
}

/** Lets former ages have ended no key that is younger than this. */
export async function updateFormerAges(tx: Tx, orgId: string, kind: KeyKind, days: number): Promise<void> {
  await tx.run(sql`
    update former_key_ages set max_days = ${days} where org_id = ${orgId} and kind = ${kind} and max_days < ${days}`);
}

/** Forgets the former ages of a kind of keys. */
export async function deleteFormerAges(tx: Tx, orgId: string, kind: KeyKind): Promise<void> {
  await tx.run(sql`delete from former_key_ages where org_id = ${orgId} and kind = ${kind}`);
}

const ending = {
  id: uuid,
  description: text,
  owner_kind: oneOf(principalKinds),
  owner: text,
  ends_at: timestamp,
  /** Whether rules end it, and not itself. */
  by_rules: boolean,
  last_used_at: nullable(timestamp),
};

/** A key that comes near to its end. */
export type EndingKeyRow = RowOf<typeof ending>;

/** Which keys are looked for: those that end between two moments, and how many at most. */
interface Window {
  from: Timestamp;
  to: Timestamp;
  limit: number;
}

/**
 * Lists the keys of an organization's service accounts, and those of its members where its own rules end them there, in the order of their ends.
 */
export function listEndingKeys(db: Executor, orgId: string, window: Window): Promise<EndingKeyRow[]> {
  const { from, to, limit } = window;
  return db.all(query(ending)`
    select id, description, owner_kind, owner, ends_at, by_rules, last_used_at from (
      select k.id, k.description, 'service_account' as owner_kind, s.name as owner, ${endOfKey("k")} as ends_at,
        ${endOfKey("k")} is distinct from k.expires_at as by_rules, k.last_used_at
      from service_accounts s join api_keys k on k.org_id = s.org_id and k.service_account_id = s.id
      where s.org_id = ${orgId} and s.archived_at is null and k.revoked_at is null
      union all
      select k.id, k.description, 'user', u.name, ${endByRules("k", "rule")}, true, k.last_used_at
      from security_rules rule
      join memberships m on m.org_id = rule.org_id
      join users u on u.id = m.user_id and u.disabled_at is null and u.deleted_at is null
      join api_keys k on k.user_id = u.id
      where rule.org_id = ${orgId} and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > ${moment(from)})) keys
    where ends_at > ${moment(from)} and ends_at <= ${moment(to)}
    order by ends_at, id limit ${limit}`);
}

/** Lists the keys of the whole installation that its own rules end within this time, the first ones first. */
export function listEndingKeysOfAll(db: Executor, window: Window): Promise<EndingKeyRow[]> {
  const { from, to, limit } = window;
  return db.all(query(ending)`
    select id, description, owner_kind, owner, ends_at, by_rules, last_used_at from (
      select k.id, k.description, case when k.user_id is null then 'service_account' else 'user' end as owner_kind,
        coalesce(u.name, o.name || '/' || s.name) as owner, ${endByRules("k", "rule")} as ends_at, true as by_rules,
        k.last_used_at
      from security_rules rule
      cross join api_keys k
      left join users u on u.id = k.user_id
      left join organizations o on o.id = k.org_id
      left join service_accounts s on s.org_id = k.org_id and s.id = k.service_account_id
      where rule.org_id = ${installationId} and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > ${moment(from)})) keys
    where ends_at > ${moment(from)} and ends_at <= ${moment(to)}
    order by ends_at, id limit ${limit}`);
}
