import { sql } from "kysely";

import type { RepoInfoPostInput } from "../../contract/reports.ts";
import type { Tx } from "../../db/connect.ts";
import type { Deps } from "../deps.ts";

/** `repo_info` of a report (contract flows 4.3). */
export type RepoInfo = RepoInfoPostInput;

/**
 * Creates or refreshes the repos that reports name.
 * @returns internal ids, in the order of `repos`.
 */
export async function captureRepos(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  orgId: string,
  repos: readonly RepoInfo[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const repo of repos) {
    const external = repo.id || null;
    const target =
      external === null
        ? sql`(org_id, name, provider) where repo_id is null`
        : sql`(org_id, repo_id, provider) where repo_id is not null`;
    const at = sql`to_timestamp(${deps.clock.now()}::float8)`;
    const { rows } = await sql<{ id: string }>`
      insert into repos as r (org_id, id, repo_id, provider, name, url, description, namespace_path, additional_info,
        created_at, last_modified_at)
      values (${orgId}, ${deps.ids.next()}, ${external}, ${repo.provider ?? null}, ${repo.name}, ${repo.url},
        ${repo.description ?? null}, ${repo.namespace_path ?? null}::text[],
        ${repo.additional_info ? JSON.stringify(repo.additional_info) : null}::jsonb, ${at}, ${at})
      on conflict ${target} do update set name = excluded.name, url = excluded.url,
        description = coalesce(excluded.description, r.description),
        namespace_path = coalesce(excluded.namespace_path, r.namespace_path),
        additional_info = coalesce(excluded.additional_info, r.additional_info),
        last_modified_at = greatest(r.last_modified_at, excluded.last_modified_at)
      returning id`.execute(tx);
    ids.push(rows[0]!.id);
  }
  return ids;
}
