import type { AnswerOf } from "../api/contract.ts";
import { type ExportedList, given } from "../api/export.ts";
import { time } from "../domain/csv.ts";

/** Exports the entries of the allow-list that are shown. */
export function allowListExport(
  org: string,
  entries: AnswerOf<"GET /allowlists/{org}">,
  name = "allow-list",
): ExportedList {
  return {
    file: `${org}-${name}`,
    columns: [
      "environment_name",
      "artifact_name",
      "fingerprint",
      "description",
      "user_name",
      time("timestamp"),
    ],
    batches: given(entries),
  };
}
