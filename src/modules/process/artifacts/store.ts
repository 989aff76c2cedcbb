import type { Executor, Tx } from "../../../db/connect.ts";
import { text } from "../../../db/row.ts";
import { command, constant, param, query } from "../../../db/sql.ts";
import { type BuildFacts, buildMembers } from "../../../domain/builds.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { writeJson } from "../../../lib/exact-json.ts";
import { flowIdNamed } from "../flows/flow-name-sql.ts";

/** A report of an artifact, ready to be written. */
export interface NewArtifact {
  id: string;
  flow_id: string;
  trail_id: string;
  trail_name: string;
  fingerprint: string;
  filename: string;
  template_reference_name: string;
  description: string | null;
  git_commit: string | null;
  git_commit_info: BuildFacts["git_commit_info"];
  repo_id: string | null;
  repo_url: string | null;
  commit_url: string;
  build_url: string;
  external_urls: unknown;
  annotations: unknown;
  user_data: unknown;
  commits_list: unknown;
  created_at: Timestamp;
  created_by_name: string;
}

/** Writes reports of artifacts. */
export function insertArtifacts(tx: Tx, orgId: string, artifacts: readonly NewArtifact[]): void {
  const input = writeJson(artifacts.map((artifact, position) => ({ position, ...artifact })));
  tx.send(command("insert-artifacts")`
    insert into artifacts (org_id, id, flow_id, trail_id, fingerprint, filename, template_reference_name, description,
      git_commit, git_commit_info, repo_id, repo_url, commit_url, build_url, external_urls, annotations, user_data,
      commits_list, created_at, created_by_name)
    select ${orgId}, id, flow_id, trail_id, fingerprint, filename, template_reference_name, description, git_commit,
      git_commit_info, repo_id, repo_url, commit_url, build_url, external_urls, annotations, user_data, commits_list,
      to_timestamp(created_at), created_by_name
    from json_to_recordset(${input}::json) as i (position integer, id uuid, flow_id uuid, trail_id uuid,
      fingerprint text, filename text, template_reference_name text, description text, git_commit text,
      git_commit_info jsonb, repo_id uuid, repo_url text, commit_url text, build_url text, external_urls jsonb,
      annotations json, user_data json, commits_list jsonb, created_at float8, created_by_name text)
    order by position`);
}

/**
 * Makes the organization's numbering ours until the transaction ends. Builds must be looked for after this, in a
 * statement of its own, or one made meanwhile is missed. All writers lock it last, after flows, repos, trails and what is
 * kept of flows, and so wait for nothing else while others wait for them.
 */
export function lockNumbering(tx: Tx, orgId: string): void {
  tx.send(command("lock-numbering")`select from org_counters where org_id = ${orgId} for no key update`);
}

/**
 * Writes a build for each fingerprint of these artifacts, which were inserted before, that the organization did not know.
 * Builds are numbered without gaps in the order of `artifacts`, in the organization and in their repo, and their times
 * never go back: one that is earlier than the build before it takes over that one's time. Locks the numbering.
 */
export function insertBuilds(tx: Tx, orgId: string, artifacts: readonly NewArtifact[]): void {
  lockNumbering(tx, orgId);
  const input = artifacts.map((artifact, position) => {
    const { id, flow_id, fingerprint, repo_id, created_at } = artifact;
    return { position, id, flow_id, fingerprint, repo_id, created_at, json: buildMembers(artifact) };
  });
  tx.send(command("insert-builds")`
    with firsts as (
      select distinct on (i.fingerprint) i.*, to_timestamp(i.created_at) as moment
      from json_to_recordset(${JSON.stringify(input)}::json) as i (position integer, id uuid, flow_id uuid,
        fingerprint text, repo_id uuid, created_at float8, json text)
      -- Not "not exists": the planner would be free to read all artifacts for it.
      where (select a.id from artifacts a where a.org_id = ${orgId} and a.fingerprint = i.fingerprint
        and a.id <> all (${artifacts.map(({ id }) => id)}::uuid[]) limit 1) is null
      order by i.fingerprint, i.position
    ), built as (
      insert into builds (org_id, number, fingerprint, artifact_id, flow_id, repo_id, repo_number, created_at, json)
      select ${orgId}, n.number, n.fingerprint, n.id, n.flow_id, n.repo_id, n.repo_number, n.at,
        '"created_at":' || epoch(n.at)::text || ',' || n.json
      from (
        select f.*, c.build_number + row_number() over in_order as number,
          case when f.repo_id is not null then row_number() over in_repo + coalesce((
            select r.build_number from repo_counters r where r.org_id = ${orgId} and r.repo_id = f.repo_id), 0) end
            as repo_number,
          greatest(c.last_build_at, max(f.moment) over in_order) as at
        from firsts f cross join (
          select build_number, last_build_at from org_counters where org_id = ${orgId}) c
        window in_order as (order by f.position), in_repo as (partition by f.repo_id order by f.position)
      ) n
      order by n.number
      returning number, created_at, repo_id, repo_number
    ), counted as (
      insert into repo_counters (org_id, repo_id, build_number)
      select ${orgId}, repo_id, max(repo_number) from built where repo_id is not null group by repo_id
      on conflict (org_id, repo_id) do update set build_number = excluded.build_number
    )
    update org_counters set build_number = newest.number, last_build_at = newest.created_at
    from (select max(number) as number, max(created_at) as created_at from built having count(*) > 0) newest
    where org_id = ${orgId}`);
}

interface CommitQuery {
  flow_name: string;
  /** Beginning of the fingerprint to leave out. */
  fingerprint: string;
  branches: readonly string[] | null;
}

/** Bytes of commits, as they are stored, that are searched for a branch: to read them takes half a second at worst, and 5,000 artifacts with some commits each have fewer. */
const mostCommitBytes = constant(64 * 1024 * 1024);

/**
 * Finds the commit of the flow's newest artifact, of one of these branches if any are asked for, other than the given one. It reads the branches
 * of the newest 5,000 artifacts, as far as their commits are not too much together.
 */
export async function findLatestCommit(
  db: Executor,
  orgId: string,
  { flow_name, fingerprint, branches }: CommitQuery,
): Promise<string | undefined> {
  const [org, wanted] = [param(orgId), param(branches)];
  const row = await db.first(query("latest-artifact-commit", { latest_commit: text })`
    select a.git_commit as latest_commit
    from flows f
    cross join lateral (
      select a.id, a.git_commit, case when a.bytes - a.own_bytes <= ${mostCommitBytes} then coalesce(a.git_commit_info ->> 'branch', (
        select c ->> 'branch' from jsonb_array_elements(a.commits_list) c where c ->> 'sha1' = a.git_commit limit 1
      )) end as branch
      from (
        select a.*, sum(own_bytes) over (order by a.id desc) as bytes
        from (
          select a.id, a.git_commit, a.git_commit_info, a.commits_list,
            coalesce(pg_column_size(a.git_commit_info), 0) + coalesce(pg_column_size(a.commits_list), 0) as own_bytes
          from artifacts a
          where a.org_id = ${org} and a.flow_id = f.id and a.git_commit is not null
            and not starts_with(a.fingerprint, ${fingerprint})
          order by a.id desc limit 5000
        ) a
      ) a
    ) a
    where f.org_id = ${org} and f.id = ${flowIdNamed(org, param(flow_name))}
      and (${wanted}::text[] is null or a.branch = any(${wanted}::text[]))
    order by a.id desc limit 1`);
  return row?.latest_commit;
}
