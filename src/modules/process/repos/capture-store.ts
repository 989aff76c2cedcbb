import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, integer, type RowOf, text, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { asInput, inputColumns, knownRepos, type ReportedRepo } from "./known-sql.ts";

/** A stored repo behind a reported one. */
const knownRepo = {
  /** Index of the reported one. */
  position: integer,
  id: uuid,
  row_version: text,
  /** Whether the report says something new. */
  changed: boolean,
};

export type KnownRepo = RowOf<typeof knownRepo>;

/** Lists which of the reported repos are stored already. What a report leaves out is no news. */
export function listKnownRepos(
  db: Executor,
  orgId: string,
  repos: readonly ReportedRepo[],
): Promise<KnownRepo[]> {
  return db.all(query("known-repos", knownRepo)`${knownRepos(orgId, repos)}`);
}

/**
 * Inserts repos, passing over those that somebody else has inserted meanwhile.
 * @param repos sorted, lest two writers deadlock.
 */
export async function insertRepos(
  tx: Tx,
  orgId: string,
  repos: readonly (ReportedRepo & { id: string })[],
  at: Timestamp,
): Promise<void> {
  await tx.run(sql`
    insert into repos (org_id, id, repo_id, provider, name, url, description, vcs_instance, namespace_path,
      additional_info, created_at, last_modified_at)
    select ${orgId}, id, repo_id, provider, name, url, description, vcs_instance, namespace_path, additional_info,
      ${moment(at)}, ${moment(at)}
    from json_to_recordset(${asInput(repos)}::json) as i ${inputColumns}
    order by position
    on conflict do nothing`);
}

/**
 * Writes what reports say anew. What a report leaves out keeps its value.
 * @param repos sorted, lest two writers deadlock.
 */
export async function updateRepos(
  tx: Tx,
  orgId: string,
  repos: readonly (ReportedRepo & { id: string })[],
  at: Timestamp,
): Promise<void> {
  await tx.run(sql`
    with input as materialized (
      select * from json_to_recordset(${asInput(repos)}::json) as i ${inputColumns}
    ), locked as materialized (
      select r.id from repos r where r.org_id = ${orgId} and r.id in (select id from input)
      order by r.id for no key update
    )
    update repos r set name = i.name, url = i.url, vcs_instance = coalesce(i.vcs_instance, r.vcs_instance),
      description = coalesce(i.description, r.description),
      namespace_path = coalesce(i.namespace_path, r.namespace_path),
      additional_info = coalesce(i.additional_info, r.additional_info),
      last_modified_at = greatest(r.last_modified_at, ${moment(at)})
    from input i join locked using (id)
    where r.org_id = ${orgId} and r.id = i.id`);
}
