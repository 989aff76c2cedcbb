import { z } from "zod";

import { organizationReader } from "./access.ts";
import { json, LinksBody, Timestamp } from "./common.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
} from "./parameters.ts";
import { repoProviders } from "./reports.ts";

/** A source repository. `id` is ours and stable, `repo_id` the provider's own (contract flows 13.1). */
const RepoResponse = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    provider: z.string().nullable(),
    repo_id: z.string().nullable(),
    description: z.string().nullable(),
    vcs_instance: z.string().nullable(),
    namespace_path: z.array(z.string()).nullable(),
    additional_info: z.record(z.string(), z.unknown()).nullable(),
    tags: z.record(z.string(), z.string()),
    created_at: Timestamp,
    last_modified_at: Timestamp,
    /** When an artifact of the repo was last reported, as ISO 8601 text. */
    latest_activity: z.string().nullable(),
    _links: LinksBody,
  })
  .meta({ id: "RepoResponse" });

/** A page of repos (contract catalog 4.2). */
const RepoListResponse = z
  .strictObject({
    ...pageOfList,
    repos: z.array(RepoResponse),
  })
  .meta({ id: "RepoListResponse" });

/** Every key and value that some repo is tagged with (interface spec 2). */
const RepoTagChoicesResponse = z
  .object({ tag_choices: z.array(z.object({ key: z.string(), value: z.string() })), _links: LinksBody })
  .meta({ id: "RepoTagChoicesResponse" });

/** Values to filter by; each list obeys the other filters. */
const RepoFilterOptionsResponse = z
  .object({
    providers: z.array(z.string()),
    vcs_instances: z.array(z.string()),
    /** The level of namespaces just below the one asked for. */
    namespace_values: z.array(z.string()),
    _links: LinksBody,
  })
  .meta({ id: "RepoFilterOptionsResponse" });

/** Filters of the list and of the filter options. */
const filters = {
  provider: choiceParameter(repoProviders).optional(),
  vcs_instance: textParameter().optional(),
  namespace: textParameter().optional(),
  tag: listParameter(textParameter()),
};

export const repoEndpoints = {
  list_repos: endpoint({
    method: "GET",
    path: "/repos/{org}",
    tag: "Repos",
    summary: "List repos",
    description:
      "Sorted by name. `name` is exact and ignored when `repo_id` is given, `search` is part of the name in any case, `namespace` a beginning of the namespace with its levels separated by slashes. Several tags combine with OR.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      page: pageParameter().default(1),
      per_page: integerParameter({ min: 1, max: 50 }).default(15),
      name: textParameter().optional(),
      search: textParameter().optional(),
      repo_id: textParameter().optional(),
      sort_direction: choiceParameter(["asc", "desc"]).default("asc"),
      ...filters,
    }),
    responses: { 200: json("A page of repos", RepoListResponse) },
  }),
  list_repo_tag_choices: endpoint({
    method: "GET",
    path: "/repos/{org}/tags",
    tag: "Repos",
    summary: "List the tags that repos have",
    description: "Distinct pairs over all repos of the organization, sorted by key, then by value.",
    access: { ...organizationReader, unknown: "not_found" },
    kept: true,
    fromReplica: true,
    responses: { 200: json("The tags", RepoTagChoicesResponse) },
  }),
  list_repo_filter_options: endpoint({
    method: "GET",
    path: "/repos/{org}/filter-options",
    tag: "Repos",
    summary: "List values to filter repos by",
    description: "Each list ignores its own filter and obeys the others.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object(filters),
    responses: { 200: json("The values", RepoFilterOptionsResponse) },
  }),
  get_repo: endpoint({
    method: "GET",
    path: "/repos/{org}/{repo_name...}",
    tag: "Repos",
    summary: "Get a repo by name or id",
    description:
      "The name may contain slashes. With `id` the name does not matter. When several repos have the name, `provider` or `id` must say which; of several at one provider the newest is answered.",
    access: organizationReader,
    kept: true,
    query: z.object({
      provider: choiceParameter(repoProviders).optional(),
      id: textParameter().optional(),
    }),
    responses: { 200: json("The repo", RepoResponse) },
  }),
} satisfies Endpoints;
