import { addressOf } from "../../api/client.ts";
import { byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfHead } from "../../api/page.ts";
import { time } from "../../domain/csv.ts";
import { wholeLog } from "../audit/exports.ts";
import { instanceLogQuery, type InstanceLogSearch } from "./queries.ts";

/** Exports what was recorded of the installation, as the page's filters say. */
export function instanceLogExport(search: InstanceLogSearch): ExportedList {
  return {
    file: "instance-log",
    whole: wholeLog((format) => addressOf("GET /instance/audit-log/export", { query: { format } })),
    columns: [
      "seq",
      time("occurred_at"),
      "actor",
      "actor_kind",
      "actor_id",
      "api_key_id",
      "action",
      "resource_type",
      "resource",
      "request_id",
      "request_digest",
      "address",
      "details",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(instanceLogQuery({ ...search, page }), signal);
      return pageOfHead(data, data.entries);
    }),
  };
}
