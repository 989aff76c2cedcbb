import { sql } from "kysely";

/** A repo as events show it, from `r` repos. What was reported of it beside stays as it was written. */
export const repoInEvent = sql`json_build_object('inner_id', wire_id(r.id), 'org_id', wire_id(r.org_id),
  'repo_id', r.repo_id, 'name', r.name, 'url', r.url, 'provider', r.provider, 'description', r.description,
  'vcs_instance', r.vcs_instance, 'namespace_path', r.namespace_path, 'additional_info', r.additional_info,
  'created_at', epoch(r.created_at), 'last_modified_at', epoch(r.last_modified_at), 'tags', r.tags)`;
