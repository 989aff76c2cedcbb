import { addressOfQuestion, byCursor, type ExportedList, read } from "../../api/export.ts";
import { attestationsQuery, type AttestationsSearch, nextOf } from "./queries.ts";

/** Exports the attestations, as the page's filters say. @param now Unix seconds. */
export function attestationsExport(org: string, search: AttestationsSearch, now: number): ExportedList {
  return {
    file: `${org}-attestations`,
    csv: addressOfQuestion(attestationsQuery(org, { ...search, after: undefined }, now)),
    batches: byCursor(async (after, signal) => {
      const { data } = await read(attestationsQuery(org, { ...search, after }, now), signal);
      return { items: data.data, next: nextOf(data) };
    }),
  };
}
