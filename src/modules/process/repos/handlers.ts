import { JsonText } from "../../../contract/endpoint.ts";
import type { repoEndpoints } from "../../../contract/repos.ts";
import { readHeavy } from "../../../db/heavy-page.ts";
import { invalid } from "../../../domain/errors.ts";
import { parseTagFilter } from "../../../domain/tags.ts";
import { pageHead } from "../../../lib/links.ts";
import { pageSlice } from "../../../lib/paging.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listAnswer } from "../../kernel/list-answer.ts";
import { getRepoId } from "./service.ts";
import {
  getRepo,
  listFilterOptions,
  listRepos,
  listReposById,
  listTagChoices,
  type RepoListFilter,
} from "./store.ts";

interface SharedFilters {
  provider?: string | undefined;
  vcs_instance?: string | undefined;
  namespace?: string | undefined;
  tag?: string[] | undefined;
}

/** Reads the filters. One that is given empty is not given, but for an empty tag, which nothing has. */
function filterOf(query: SharedFilters): RepoListFilter {
  const namespace = (query.namespace ?? "").split("/").filter((level) => level !== "");
  return {
    provider: query.provider,
    vcs_instance: query.vcs_instance?.toLowerCase() || undefined,
    namespace: namespace.length === 0 ? undefined : namespace,
    tags: query.tag && parseTagFilter(query.tag),
  };
}

function reposUrl(deps: Deps, org: { name: string }): string {
  return deps.links.api(`/repos/${org.name}`);
}

export const repoHandlers: Handlers<typeof repoEndpoints> = {
  list_repos: async (deps, call) => {
    const { sort_direction, repo_id, name, search } = call.query;
    if (name && search) throw invalid("Parameters 'name' and 'search' cannot be combined");
    const repos_url = reposUrl(deps, call.org);
    const { total_count, repos } = await listRepos(deps.db, call.org.id, {
      ...filterOf(call.query),
      repo_id: repo_id || undefined,
      name: repo_id ? undefined : name || undefined,
      search: search || undefined,
      descending: sort_direction === "desc",
      ...pageSlice(call.query),
      repos_url,
    });
    const head = JSON.stringify(pageHead(call.url, call.query, total_count));
    const list =
      repos.list ??
      readHeavy(deps.db, repos.heavy, (ids) => listReposById(deps.db, call.org.id, { ids, repos_url }));
    return { status: 200, body: listAnswer(`${head.slice(0, -1)},"repos":`, list, "}") };
  },

  list_repo_tag_choices: async (deps, call) => ({
    status: 200,
    body: {
      tag_choices: await listTagChoices(deps.db, call.org.id),
      _links: { self: { href: call.url } },
    },
  }),

  list_repo_filter_options: async (deps, call) => ({
    status: 200,
    body: {
      ...(await listFilterOptions(deps.db, call.org.id, filterOf(call.query))),
      _links: { self: { href: call.url } },
    },
  }),

  get_repo: async (deps, call) => {
    const id = await getRepoId(deps.db, call.org.id, {
      name: call.params.repo_name,
      provider: call.query.provider,
      id: call.query.id || undefined,
    });
    const repo = await getRepo(deps.db, call.org.id, { id, repos_url: reposUrl(deps, call.org) });
    return { status: 200, body: new JsonText(repo) };
  },
};
