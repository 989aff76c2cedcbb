import type { Executor, Tx } from "../../../db/connect.ts";
import { json, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import { type KeyNoticeKind, keyNoticeKinds } from "../../../domain/key-notices.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { endOfKey, installationId } from "../../kernel/access/key-rules-sql.ts";

/** The job that mails one notice. */
export const mailTask = "mail_key_notice";

const noticed = {
  key_id: uuid,
  kind: oneOf(keyNoticeKinds),
  about: text,
  org_id: nullable(uuid),
  account: nullable(text),
};

/** A notice that was made just now. */
export type NoticeRow = RowOf<typeof noticed>;

/** SQL for: a moment as text, in UTC. */
const iso = (at: ReturnType<typeof sql>) =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/**
 * Notices keys whose end is near or was within the last day, some at a time, each stage once for each end. A key that never had twice the time of a stage is not
 * told of it: whoever makes a key for an hour knows.
 */
export function insertEnding(tx: Tx, at: Timestamp, limit: number): Promise<NoticeRow[]> {
  return tx.all(query(noticed)`
    with ending as (
      select k.id, k.org_id, k.service_account_id, ${endOfKey("k")} as ends_at, coalesce(k.rotated_at, k.created_at) as made_at,
        coalesce((select min(rule.warn_days) from security_rules rule
          where rule.org_id in (${installationId}, k.org_id)), 14) as warn_days
      from api_keys k
      where k.revoked_at is null and (k.expires_at is null or k.expires_at > ${moment(at)} - interval '1 day')
    ), staged as (
      select e.id, e.org_id, e.service_account_id, e.ends_at, stage.kind
      from ending e, lateral (
        select s.kind from (values ('ended', 0, 0), ('ends_in_1_day', 1, 1), ('ends_in_3_days', 3, 3), ('ends_soon', e.warn_days, 99))
          as s (kind, days, position)
        where e.ends_at <= ${moment(at)} + s.days * interval '1 day' and e.ends_at - e.made_at >= 2 * s.days * interval '1 day'
        order by s.position limit 1) stage
      where e.ends_at > ${moment(at)} - interval '1 day'
    ), made as (
      insert into key_notices (key_id, kind, about, noticed_at)
      select id, kind, ${iso(sql`ends_at`)}, ${moment(at)} from staged
      where not exists (
        select from key_notices n where n.key_id = id and n.kind = staged.kind and n.about = ${iso(sql`ends_at`)})
      order by id limit ${limit}
      on conflict do nothing
      returning key_id, kind, about
    )
    select made.key_id, made.kind, made.about, staged.org_id, s.name as account
    from made join staged on staged.id = made.key_id
    left join service_accounts s on s.org_id = staged.org_id and s.id = staged.service_account_id
    order by made.key_id`);
}

/** Notices keys that were used from a network for the first time within the last two days, and from another one before: once a day for each. */
export function insertNewNetworks(tx: Tx, at: Timestamp, limit: number): Promise<NoticeRow[]> {
  return tx.all(query(noticed)`
    with fresh as (
      select distinct on (n.key_id) n.key_id, n.network::text as about from key_networks n
      where n.first_used_at > ${moment(at)} - interval '2 days'
        and exists (select from key_networks former where former.key_id = n.key_id and former.first_used_at < n.first_used_at)
        and not exists (select from key_notices told where told.key_id = n.key_id and told.kind = 'new_network'
          and (told.about = n.network::text or told.noticed_at > ${moment(at)} - interval '1 day'))
      order by n.key_id, n.first_used_at desc limit ${limit}
    )
    insert into key_notices (key_id, kind, about, noticed_at)
    select key_id, 'new_network', about, ${moment(at)} from fresh
    on conflict do nothing
    returning key_id, kind, about, null::uuid as org_id, null::text as account`);
}

/** Notices that these keys are not used. */
export async function insertUnused(
  tx: Tx,
  kind: KeyNoticeKind,
  keys: readonly { id: string; last_used_at: Timestamp }[],
  at: Timestamp,
): Promise<NoticeRow[]> {
  return tx.all(query(noticed)`
    insert into key_notices (key_id, kind, about, noticed_at)
    select used.id, ${kind}::text, ${iso(sql`to_timestamp(used.at)`)}, ${moment(at)}
    from unnest(${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ last_used_at }) => last_used_at)}::float8[]) as used (id, at)
    on conflict do nothing
    returning key_id, kind, about, null::uuid as org_id, null::text as account`);
}

const addressed = {
  description: text,
  owner: text,
  org_name: nullable(text),
  revoked_at: nullable(timestamp),
  /** The owner, who made a service account, and administrators; of several with the same address one. */
  recipients: json<{ id: string; email: string }[]>(),
};

/** A key, and who is told of it. */
export type AddressedKeyRow = RowOf<typeof addressed>;

/**
 * Finds whom to tell of a key: a person and the administrators of the installation of the person's key; who made a service account and the administrators
 * of its organization of an account's. At most 50.
 */
export function findAddressed(db: Executor, keyId: string): Promise<AddressedKeyRow | undefined> {
  return db.first(query(addressed)`
    select k.description, coalesce(u.name, o.name || '/' || s.name) as owner, o.name as org_name, k.revoked_at,
      (select coalesce(json_agg(r), '[]') from (
        select distinct on (told.email) told.id, told.email from users told
        where told.email is not null and told.disabled_at is null and told.deleted_at is null and (
          told.id = k.user_id or told.id = s.creating_user_id
          or (k.org_id is null and told.instance_admin)
          or exists (select from memberships m where m.org_id = k.org_id and m.user_id = told.id and m.role = 'admin'))
        order by told.email, told.id limit 50) r) as recipients
    from api_keys k
    left join users u on u.id = k.user_id
    left join organizations o on o.id = k.org_id
    left join service_accounts s on s.org_id = k.org_id and s.id = k.service_account_id
    where k.id = ${keyId}`);
}
