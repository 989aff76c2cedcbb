import { addressOf } from "../../api/client.ts";
import { byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfData } from "../../api/page.ts";
import { trailsQuery, type trailsSearch } from "./queries.ts";

/** Exports the trails of all flows, as the page's filters say. @param now Unix seconds. */
export function trailsExport(
  org: string,
  search: ReturnType<typeof trailsSearch>,
  now: number,
): ExportedList {
  const [operation, { params, query }] = trailsQuery(org, search, now).queryKey;
  return {
    file: `${org}-trails`,
    csv: addressOf(operation, { params, query: { ...query, include: undefined } }),
    batches: byPages(async (page, signal) => {
      const { data } = await read(trailsQuery(org, { ...search, page }, now), signal);
      return pageOfData<unknown>(data);
    }),
  };
}
