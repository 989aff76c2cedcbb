import { addressOfQuestion, byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfData } from "../../api/page.ts";
import { changesQuery, type ChangesSearch } from "./queries.ts";

/** Exports what changed, as the page's filters say. @param now Unix seconds. */
export function changesExport(org: string, search: ChangesSearch, now: number): ExportedList {
  return {
    file: `${org}-changes`,
    csv: addressOfQuestion(changesQuery(org, search, now)),
    batches: byPages(async (page, signal) => {
      const { data } = await read(changesQuery(org, { ...search, page }, now), signal);
      return pageOfData(data);
    }),
  };
}
