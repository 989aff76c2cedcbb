import type { RepoInfoPostInput } from "../../contract/reports.ts";
import type { Tx } from "../../db/connect.ts";
import { vcsInstanceOf } from "../../domain/repos.ts";
import type { Deps } from "../deps.ts";
import { insertRepos, listKnownRepos, type ReportedRepo, updateRepos } from "./capture-store.ts";

/** `repo_info` of a report (contract flows 4.3). */
export type RepoInfo = RepoInfoPostInput;

function reportedRepo(info: RepoInfo): ReportedRepo {
  return {
    repo_id: info.id || null,
    provider: info.provider ?? null,
    name: info.name,
    url: info.url,
    description: info.description ?? null,
    vcs_instance: vcsInstanceOf(info.url),
    namespace_path: info.namespace_path ?? null,
    additional_info: info.additional_info ?? null,
  };
}

function identityOf(repo: ReportedRepo): string {
  return JSON.stringify([repo.repo_id === null ? [repo.name] : repo.repo_id, repo.provider]);
}

/** Later reports of a repo add to earlier ones; what a later one leaves out stays. */
function merge(earlier: ReportedRepo | undefined, later: ReportedRepo): ReportedRepo {
  if (earlier === undefined) return later;
  return {
    ...later,
    description: later.description ?? earlier.description,
    vcs_instance: later.vcs_instance ?? earlier.vcs_instance,
    namespace_path: later.namespace_path ?? earlier.namespace_path,
    additional_info: later.additional_info ?? earlier.additional_info,
  };
}

/**
 * Creates or refreshes the repos that reports name (contract flows 13). A repo is identified by its provider and the
 * provider's id for it, without an id by provider and name; under the same id another name is a rename. Nothing is
 * written when nothing is new.
 * @returns internal ids, in the order of `repos`.
 */
export async function captureRepos(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  orgId: string,
  repos: readonly RepoInfo[],
): Promise<string[]> {
  if (repos.length === 0) return [];
  const merged = new Map<string, ReportedRepo>();
  const keys = repos.map((info) => {
    const repo = reportedRepo(info);
    const key = identityOf(repo);
    merged.set(key, merge(merged.get(key), repo));
    return key;
  });
  const wanted = [...merged].sort(([a], [b]) => (a < b ? -1 : 1));
  const ids = await storeRepos(deps, tx, { orgId, wanted });
  return keys.map((key) => ids.get(key)!);
}

interface Wanted {
  orgId: string;
  /** By identity, sorted. */
  wanted: [identity: string, repo: ReportedRepo][];
}

async function storeRepos(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  { orgId, wanted }: Wanted,
): Promise<Map<string, string>> {
  const reported = wanted.map(([, repo]) => repo);
  let known = await listKnownRepos(tx, orgId, reported);
  if (known.length < wanted.length) {
    const found = new Set(known.map((repo) => repo.position));
    const missing = reported.filter((_, position) => !found.has(position));
    await insertRepos(
      tx,
      orgId,
      missing.map((repo) => ({ ...repo, id: deps.ids.next() })),
      deps.clock.now(),
    );
    known = await listKnownRepos(tx, orgId, reported);
  }
  const changed = known.filter((repo) => repo.changed);
  if (changed.length > 0)
    await updateRepos(
      tx,
      orgId,
      changed.map(({ id, position }) => ({ ...reported[position]!, id })),
      deps.clock.now(),
    );
  return new Map(known.map(({ id, position }) => [wanted[position]![0], id]));
}
