import { type Sql, sql } from "../../../db/sql.ts";
import { type ExactJson, writeJson } from "../../../lib/exact-json.ts";

/** A repo as reported. What identifies it: its provider with the provider's id, or with its name when it has none. */
export interface ReportedRepo {
  repo_id: string | null;
  provider: string | null;
  name: string;
  url: string;
  description: string | null;
  vcs_instance: string | null;
  namespace_path: string[] | null;
  additional_info: ExactJson | null;
}

/** Columns of the reported repos as `asInput` writes them. */
export const inputColumns = sql`(position integer, id uuid, repo_id text, provider text, name text, url text, description text,
  vcs_instance text, namespace_path text[], additional_info json)`;

/** Writes reported repos as JSON, each with its place among them. */
export function asInput(repos: readonly (ReportedRepo & { id?: string })[]): string {
  return writeJson(repos.map((repo, position) => ({ position, ...repo })));
}

/**
 * Selects which of the reported repos are stored already, and whether their reports say something new. `row_version` differs after
 * every write to the repo.
 */
export function knownRepos(orgId: string, repos: readonly ReportedRepo[]): Sql {
  return sql`
    select i.position, r.id, r.row_version, (r.name <> i.name or r.url <> i.url
      or coalesce(i.vcs_instance, r.vcs_instance) is distinct from r.vcs_instance
      or coalesce(i.description, r.description) is distinct from r.description
      or coalesce(i.namespace_path, r.namespace_path) is distinct from r.namespace_path
      or coalesce(i.additional_info, r.additional_info)::text is distinct from r.additional_info::text) as changed
    from json_to_recordset(${asInput(repos)}::json) as i ${inputColumns}
    cross join lateral (
      select *, r.xmin::text as row_version from repos r where r.org_id = ${orgId} and i.repo_id is not null
        and r.repo_id = i.repo_id and r.provider is not distinct from i.provider
      union all
      select *, r.xmin::text as row_version from repos r where r.org_id = ${orgId} and i.repo_id is null
        and r.repo_id is null and r.name = i.name and r.provider is not distinct from i.provider
    ) as r`;
}
