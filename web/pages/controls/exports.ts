import { byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfHead } from "../../api/page.ts";
import { time } from "../../domain/csv.ts";
import { type ControlSearch, controlsQuery, type controlsSearch } from "./queries.ts";
import { decisionsQuery } from "./tab-queries.ts";

/** Exports the controls, as the page's filters say. */
export function controlsExport(org: string, search: ReturnType<typeof controlsSearch>): ExportedList {
  return {
    file: `${org}-controls`,
    columns: [
      "identifier",
      "name",
      "description",
      "version",
      "archived",
      "links",
      "tags",
      time("created_at"),
      "created_by",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(controlsQuery(org, { ...search, page }), signal);
      return pageOfHead(data, data.controls);
    }),
  };
}

/** Exports the decisions on a control, as the page's filters say. */
export function decisionsExport(org: string, control: string, search: ControlSearch): ExportedList {
  return {
    file: `${org}-${control}-decisions`,
    columns: [
      "control",
      "control_version",
      "is_compliant",
      "attestation_name",
      "flow_name",
      "trail_name",
      "artifact_name",
      "artifact_fingerprint",
      time("created_at"),
      "reported_by",
      "html_url",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(decisionsQuery(org, control, { ...search, page }), signal);
      return pageOfHead(data, data.decisions);
    }),
  };
}
