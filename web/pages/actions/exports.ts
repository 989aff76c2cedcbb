import { byPages, type ExportedList, given, read } from "../../api/export.ts";
import { pageOfHead } from "../../api/page.ts";
import { time } from "../../domain/csv.ts";
import { type Action, type ActionSearch, deliveriesQuery } from "./queries.ts";

/** Exports the actions that are shown. */
export function actionsExport(org: string, actions: readonly Action[]): ExportedList {
  return {
    file: `${org}-actions`,
    columns: [
      "number",
      "name",
      "type",
      "triggers",
      "environments",
      "flows",
      "targets.type",
      "is_failing",
      time("last_success_timestamp"),
      time("last_failure_timestamp"),
      "created_by",
      time("created_at"),
    ],
    batches: given(actions),
  };
}

/** Exports what an action sent, as the page's filters say. */
export function deliveriesExport(org: string, number: string, search: ActionSearch): ExportedList {
  return {
    file: `${org}-action-${number}-deliveries`,
    columns: [
      "id",
      "event_type",
      "trigger",
      "description",
      time("occurred_at"),
      "target.position",
      "target.type",
      "status",
      "attempts",
      time("last_attempt_at"),
      time("next_attempt_at"),
      "response_status",
      "error",
      "replay_of",
    ],
    batches: byPages(async (page, signal) => {
      const { data } = await read(deliveriesQuery(org, number, { ...search, page }), signal);
      return pageOfHead(data, data.deliveries);
    }),
  };
}
