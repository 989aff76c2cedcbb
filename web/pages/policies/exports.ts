import { type ExportedList, given } from "../../api/export.ts";
import { time } from "../../domain/csv.ts";
import type { Policy } from "./queries.ts";

/** Exports the policies that are shown; as JSON with all their versions. */
export function policiesExport(org: string, policies: readonly Policy[]): ExportedList {
  return {
    file: `${org}-policies`,
    columns: [
      "name",
      "description",
      "versions.version",
      "consuming_envs",
      "created_by",
      time("created_at"),
      time("last_modified_at"),
    ],
    batches: given(policies),
  };
}
