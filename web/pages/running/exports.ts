import { addressOfQuestion, byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfData } from "../../api/page.ts";
import { runningQuery, type RunningSearch } from "./queries.ts";

/** Exports what runs, as the page's filters say. */
export function runningExport(org: string, search: RunningSearch): ExportedList {
  return {
    file: `${org}-running`,
    csv: addressOfQuestion(runningQuery(org, search)),
    batches: byPages(async (page, signal) => {
      const { data } = await read(runningQuery(org, { ...search, page }), signal);
      return pageOfData(data);
    }),
  };
}
