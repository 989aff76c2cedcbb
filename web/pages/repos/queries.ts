import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, polling } from "../../api/queries.ts";
import { repoProviders } from "../../domain/repo-providers.ts";
import { oneOf, positive, reads, text, texts } from "../../domain/search-params.ts";

export type Repo = AnswerOf<"GET /repos/{org}/{repo_name...}">;
export type Builds = AnswerOf<"GET /builds/{org}">;
export type Deployments = AnswerOf<"GET /repos/{org}/{repo}/deployments">;
export type Live = AnswerOf<"GET /repos/{org}/live-artifacts/{repo_name...}">;

/** Reads who keeps a repo. */
export const providers = oneOf(...repoProviders);

/** What the address of the list says. */
export const reposSearch = reads({
  search: text,
  provider: providers,
  namespace: text,
  page: positive,
});

/** What the address of a repo says: which of several of its name, the part shown, days back, environments. */
export const repoSearch = reads({
  id: text,
  tab: oneOf("build", "release", "run"),
  days: oneOf("7", "14", "28", "90"),
  env: texts,
  page: positive,
});
export type RepoSearch = ReturnType<typeof repoSearch>;

/** Asks for one page of an organization's repos. */
export function reposQuery(org: string, { page = 1, ...rest }: ReturnType<typeof reposSearch>) {
  return {
    ...ask("GET /repos/{org}", { params: { org }, query: { ...rest, page, per_page: 50 } }),
    refetchInterval: polling.charts,
  };
}

/** Asks for a repo by its name, or by its id where several have the name. */
export function repoQuery(org: string, repo_name: string, id: string | undefined) {
  return alone(ask("GET /repos/{org}/{repo_name...}", { params: { org, repo_name }, query: { id } }));
}
