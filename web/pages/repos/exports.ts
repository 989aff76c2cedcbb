import { byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfHead } from "../../api/page.ts";
import { time } from "../../domain/csv.ts";
import { type Repo, reposQuery, type reposSearch } from "./queries.ts";
import { buildsQuery } from "./tab-queries.ts";

/** Exports the repos, as the page's filters say. */
export function reposExport(org: string, search: ReturnType<typeof reposSearch>): ExportedList {
  return {
    file: `${org}-repos`,
    columns: [
      "name",
      "url",
      "provider",
      "namespace_path",
      "vcs_instance",
      "description",
      "latest_activity",
      "tags",
      time("created_at"),
      time("last_modified_at"),
      "repo_id",
      "id",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(reposQuery(org, { ...search, page }), signal);
      return pageOfHead(data, data.repos);
    }),
  };
}

/** Exports the builds of a repo since a time. @param start Unix seconds. */
export function buildsExport(org: string, repo: Pick<Repo, "id" | "name">, start: number): ExportedList {
  return {
    file: `${org}-${repo.name.replaceAll("/", "-")}-builds`,
    columns: [
      "filename",
      "fingerprint",
      time("created_at"),
      "flow_name",
      "trail_name",
      "git_commit",
      "git_commit_info.author",
      "git_commit_info.message",
      "build_url",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(buildsQuery(org, repo.id, start, page), signal);
      return pageOfHead(data, data.builds);
    }),
  };
}
