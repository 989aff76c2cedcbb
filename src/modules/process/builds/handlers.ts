import type { buildEndpoints } from "../../../contract/builds.ts";
import { JsonText } from "../../../contract/endpoint.ts";
import { readHeavy } from "../../../db/heavy-page.ts";
import { timeWindow, type TimeWindow } from "../../../domain/time-window.ts";
import { pageLinks } from "../../../lib/links.ts";
import { pageSlice } from "../../../lib/paging.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findRepoIds, repoParts, type RepoFilter } from "../repos/service.ts";
import { listAnswer } from "../../kernel/list-answer.ts";
import { listBuilds, listBuildsByNumber, listBuildTimes } from "./store.ts";

interface Filters {
  repo_id?: string | undefined;
  repo_name?: string | undefined;
  repo_inner_id?: string | undefined;
  start_ts?: number | undefined;
  end_ts?: number | undefined;
  "start-ts"?: number | undefined;
  "end-ts"?: number | undefined;
}

function windowOf(deps: Deps, query: Filters): TimeWindow {
  const start_ts = query.start_ts ?? query["start-ts"];
  const end_ts = query.end_ts ?? query["end-ts"];
  return timeWindow({ start_ts, end_ts }, deps.clock.now());
}

/**
 * Reads which repos the filters mean; undefined for any. Names and external ids may be those of several. An empty filter
 * is none.
 */
function repoFilterOf(query: Filters): RepoFilter | undefined {
  const filter = {
    repo_id: query.repo_id || undefined,
    name: query.repo_name || undefined,
    id: query.repo_inner_id || undefined,
  };
  return Object.values(filter).every((value) => value === undefined) ? undefined : filter;
}

export const buildHandlers: Handlers<typeof buildEndpoints> = {
  list_builds: async (deps, call) => {
    const { page, per_page } = call.query;
    const window = windowOf(deps, call.query);
    const filter = repoFilterOf(call.query);
    const artifacts_url = deps.links.api(`/artifacts/${call.org.name}`);
    const { total_count, has_builds_ever, builds } = await listBuilds(deps.db, call.org.id, {
      ...window,
      repos: filter && repoParts(filter),
      ...pageSlice(call.query),
      artifacts_url,
    });
    const total_pages = per_page === 0 ? 0 : Math.ceil(total_count / per_page);
    const links = JSON.stringify(pageLinks(call.url, page, total_pages));
    const head = JSON.stringify({ page, per_page, total_pages, total_count, has_builds_ever });
    const body = listAnswer(
      `${head.slice(0, -1)},"builds":`,
      builds.list ??
        readHeavy(deps.db, builds.heavy, (numbers) =>
          listBuildsByNumber(deps.db, call.org.id, { numbers, artifacts_url }),
        ),
      `,"_links":${links}}`,
    );
    return { status: 200, body };
  },

  build_statistics: async (deps, call) => {
    const window = windowOf(deps, call.query);
    const filter = repoFilterOf(call.query);
    const repo_ids = filter && (await findRepoIds(deps.db, call.org.id, filter));
    const { times, total_count } = await listBuildTimes(deps.db, call.org.id, { ...window, repo_ids });
    const head = JSON.stringify({ ...window, total_count, _links: { self: { href: call.url } } });
    return { status: 200, body: new JsonText(`${head.slice(0, -1)},"build_timestamps":[`, times, "]}") };
  },
};
