import { addressOf } from "../../api/client.ts";
import { byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfArray, pageOfData, pageOfWhole } from "../../api/page.ts";
import { time } from "../../domain/csv.ts";
import type { TrailSearch } from "../../domain/trail-search.ts";
import {
  artifactsPerPage,
  artifactsQuery,
  type artifactsSearch,
  flowsQuery,
  type flowsSearch,
  matrixQuery,
} from "./queries.ts";

/** Exports the flows, as the page's filters say. */
export function flowsExport(org: string, search: ReturnType<typeof flowsSearch>): ExportedList {
  return {
    file: `${org}-flows`,
    columns: [
      "name",
      "description",
      "visibility",
      "latest_state",
      time("latest_activity_at"),
      "repo_url",
      "tags",
      "space_id",
      time("created_at"),
      "created_by",
      time("archived_at"),
      "original_name",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(flowsQuery(org, { ...search, page }), signal);
      return Array.isArray(data) ? pageOfWhole(data) : pageOfData<unknown>(data);
    }),
  };
}

/** Exports the trails of a flow, as the page's filters say. */
export function flowTrailsExport(org: string, flow: string, search: TrailSearch, now: number): ExportedList {
  const [operation, { params, query }] = matrixQuery(org, flow, search, now).queryKey;
  return {
    file: `${org}-${flow}-trails`,
    csv: addressOf(operation, { params, query: { ...query, include: undefined } }),
    batches: byPages(async (page, signal) => {
      const { data } = await read(matrixQuery(org, flow, { ...search, page }, now), signal);
      return Array.isArray(data) ? pageOfWhole<unknown>(data) : pageOfData<unknown>(data);
    }),
  };
}

/** Exports the artifacts of a flow. */
export function artifactsExport(
  org: string,
  flow: string,
  search: ReturnType<typeof artifactsSearch>,
): ExportedList {
  return {
    file: `${org}-${flow}-artifacts`,
    columns: [
      "filename",
      "fingerprint",
      "state",
      "flow_name",
      "trail_name",
      "template_reference_name",
      "git_commit",
      "commit_url",
      "build_url",
      time("created_at"),
      "created_by",
      time("last_modified_at"),
      "html_url",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(artifactsQuery(org, flow, { ...search, page }), signal);
      return pageOfArray(data, { page, per_page: artifactsPerPage });
    }),
  };
}
