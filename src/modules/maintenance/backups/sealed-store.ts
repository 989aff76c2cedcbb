import type { Executor } from "../../../db/connect.ts";
import { integer, json, type RowOf, text, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import type { TargetType } from "../../../domain/actions.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const organization = { id: uuid, name: text };

/** Lists the organizations that have something sealed. */
export function listSealingOrganizations(db: Executor): Promise<RowOf<typeof organization>[]> {
  return db.all(query("sealing-organizations", organization)`
    select o.id, o.name from organizations o
    where exists (select from actions a where a.org_id = o.id and a.target_secrets is not null)
      or exists (select from quality_integrations q where q.org_id = o.id and q.secret is not null)`);
}

const sealedAction = { org_id: uuid, number: integer, name: text, targets: json<TargetType[]>() };

/** Lists an organization's actions whose targets' addresses are sealed. */
export function listSealedActions(db: Executor, orgId: string): Promise<RowOf<typeof sealedAction>[]> {
  return db.all(query(sealedAction)`
    select a.org_id, a.number, a.name, jsonb_path_query_array(a.targets, '$[*].type') as targets
    from actions a where a.org_id = ${orgId} and a.target_secrets is not null`);
}

const found = { count: integer };

/** Counts an organization's code-quality webhooks with a secret: none or one. */
export async function countSealedIntegrations(db: Executor, orgId: string): Promise<number> {
  const { count } = await db.one(query(found)`
    select count(*) from quality_integrations where org_id = ${orgId} and secret is not null`);
  return count;
}

/** Counts the sessions with a sealed ID token. */
export async function countSealedSessions(db: Executor): Promise<number> {
  const { count } = await db.one(query(found)`select count(*) from sessions where id_token is not null`);
  return count;
}

/** Removes the addresses of all targets of an organization's actions, and says of those that had one that they were not reached. */
export async function forgetAddresses(tx: Executor, orgId: string, at: Timestamp): Promise<void> {
  await tx.run(sql`
    insert into action_target_outcomes as o (org_id, action_number, position, last_failure_at)
    select a.org_id, a.number, t.place - 1, ${moment(at)}
    from actions a cross join lateral jsonb_array_elements(a.targets) with ordinality as t(target, place)
    where a.org_id = ${orgId} and a.target_secrets is not null and t.target ->> 'type' <> 'EMAIL'
    on conflict (org_id, action_number, position) do update
      set last_failure_at = greatest(o.last_failure_at, excluded.last_failure_at)`);
  await tx.run(sql`update actions set target_secrets = null where org_id = ${orgId}`);
}

/** Removes the secret of an organization's code-quality webhook. */
export async function forgetIntegrationSecret(tx: Executor, orgId: string): Promise<void> {
  await tx.run(sql`update quality_integrations set secret = null where org_id = ${orgId}`);
}

/** Removes the ID tokens of all sessions. */
export async function forgetIdTokens(tx: Executor): Promise<void> {
  await tx.run(sql`update sessions set id_token = null where id_token is not null`);
}
