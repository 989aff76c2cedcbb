import type { RepoInfoPostInput } from "../../../contract/reports.ts";
import { type AppError, invalid, notFound } from "../../../domain/errors.ts";
import { vcsInstanceOf } from "../../../domain/repos.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { present } from "../../../lib/present.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Executor, Tx } from "../../../db/connect.ts";
import { insertRepos, listKnownRepos, updateRepos } from "./capture-store.ts";
import type { ReportedRepo } from "./known-sql.ts";
import { findRepos, listRepoIds, listReposNamed, type RepoIdentity } from "./store.ts";
import type { RepoParts } from "./parts-sql.ts";

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

/** Adds a later report of a repo to an earlier one: what it leaves out stays. */
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
 * @param repos what each report says of its repo; nothing for those that name none.
 * @param before what the transaction writes besides, in which repos come last: nothing is written until it is done. Who writes them in
 * another order waits for others in a circle.
 * @returns internal ids, in the order of `repos`, with null for those.
 */
export async function captureRepos(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  orgId: string,
  repos: readonly (RepoInfo | null | undefined)[],
  before?: Promise<unknown>,
): Promise<(string | null)[]> {
  const { keys, wanted } = reposOf(repos);
  if (wanted.length === 0) return repos.map(() => null);
  const ids = await storeRepos(deps, tx, { orgId, wanted, before });
  return keys.map((key) => (key === undefined ? null : (ids.get(key) ?? null)));
}

/** The repos that reports name, each once. */
interface NamedRepos {
  /** The identity of each report's repo; undefined for those that name none. */
  keys: (string | undefined)[];
  wanted: Wanted["wanted"];
}

/** Puts together what reports say of their repos. */
export function reposOf(repos: readonly (RepoInfo | null | undefined)[]): NamedRepos {
  const merged = new Map<string, ReportedRepo>();
  const keys = repos.map((info) => {
    if (!info) return undefined;
    const repo = reportedRepo(info);
    const key = identityOf(repo);
    merged.set(key, merge(merged.get(key), repo));
    return key;
  });
  return { keys, wanted: [...merged].sort(([a], [b]) => (a < b ? -1 : 1)) };
}

interface Wanted {
  orgId: string;
  /** By identity, sorted. */
  wanted: [identity: string, repo: ReportedRepo][];
  /** See `captureRepos`. */
  before: Promise<unknown> | undefined;
}

async function storeRepos(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  { orgId, wanted, before }: Wanted,
): Promise<Map<string, string>> {
  const reported = wanted.map(([, repo]) => repo);
  let known = await listKnownRepos(tx, orgId, reported);
  if (known.length < wanted.length || known.some(({ changed }) => changed)) await before;
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
  const asked = "known repos are of those that were asked for";
  const changed = known.filter((repo) => repo.changed);
  if (changed.length > 0)
    await updateRepos(
      tx,
      orgId,
      changed.map(({ id, position }) => ({ ...present(reported[position], asked), id })),
      deps.clock.now(),
    );
  return new Map(known.map(({ id, position }) => [present(wanted[position], asked)[0], id]));
}

/** Any part of what identifies repos, as it comes over the wire; parts that are undefined do not matter. */
export interface RepoFilter {
  id: string | undefined;
  repo_id: string | undefined;
  name: string | undefined;
}

/** Reads an internal id from the wire: null, which no repo has, for a text that is none. */
function repoIdOf(id: string | undefined): string | null | undefined {
  return id === undefined ? undefined : (parseWireId(id) ?? null);
}

/** Reads the internal id in a filter. */
export function repoParts(filter: RepoFilter): RepoParts {
  return { ...filter, id: repoIdOf(filter.id) };
}

/**
 * Finds the internal ids of the repos that every given part fits: several may share a name, or an id at different
 * providers.
 */
export function findRepoIds(db: Executor, orgId: string, filter: RepoFilter): Promise<string[]> {
  return listRepoIds(db, orgId, repoParts(filter));
}

/** Finds the internal ids of all repos with one of these names; unknown names have none. */
export async function findNamedRepoIds(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  return (await listReposNamed(db, orgId, names)).map(({ id }) => id);
}

/**
 * Finds the internal ids of all repos with one of these names.
 * @throws AppError not_found for the first name that no repo has.
 */
export async function getNamedRepoIds(
  deps: Pick<Deps, "db">,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  const found = await listReposNamed(deps.db, orgId, names);
  const known = new Set(found.map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw notFound(`Repo '${unknown}' not found`);
  return found.map(({ id }) => id);
}

export interface RepoQuestion {
  name: string;
  provider: string | undefined;
  /** Internal id from the wire; then name and provider do not matter. */
  id: string | undefined;
}

/**
 * Finds the repos that are meant, the newest first; at least one.
 * @throws AppError not_found.
 */
async function getRepos(
  db: Executor,
  orgId: string,
  asked: RepoQuestion,
): Promise<[RepoIdentity, ...RepoIdentity[]]> {
  const [newest, ...others] = await findRepos(db, orgId, {
    id: repoIdOf(asked.id),
    name: asked.name,
    provider: asked.provider,
  });
  if (newest === undefined) throw notFound(`Repo '${asked.name}' not found`);
  return [newest, ...others];
}

/**
 * Finds the id of one repo, by its own id or by name. Of several at the provider asked for the newest is meant.
 * @throws AppError not_found; invalid when several providers have a repo of the name and none was said.
 */
export async function getRepoId(db: Executor, orgId: string, asked: RepoQuestion): Promise<string> {
  const { name, provider } = asked;
  const found = await getRepos(db, orgId, asked);
  if (found.length > 1 && provider === undefined) throw ambiguous(name, found);
  return found[0].id;
}

/**
 * Finds the id of one repo, by its own id or by name. Of several the newest is meant, whatever its provider.
 * @throws AppError not_found.
 */
export async function getNewestRepoId(db: Executor, orgId: string, asked: RepoQuestion): Promise<string> {
  const [newest] = await getRepos(db, orgId, asked);
  return newest.id;
}

function ambiguous(name: string, found: readonly RepoIdentity[]): AppError {
  const providers = [...new Set(found.map((repo) => repo.provider ?? "none"))].sort();
  return invalid(
    `Multiple repos named '${name}' exist (${providers.join(", ")}). Specify the 'provider' or the 'id' of the one you mean`,
  );
}
