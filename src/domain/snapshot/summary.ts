import { digestOfTexts } from "../../lib/hash-in-turns.ts";
import { sorted, type Steps } from "../../lib/steps.ts";
import { compareUnits } from "../../lib/text.ts";
import { countPlaceBytes, reportedKeys } from "./flatten.ts";
import type { Report } from "./report.ts";

/** The digest that a report is recognised by, and its size. */
export interface ReportSummary {
  type: Report["type"];
  /** The same for all reports of the same artifacts: times, numbers of instances and places do not count. */
  digest: string;
  /** How many different artifacts it names. */
  artifacts: number;
  /** Bytes of what says where they run, which an item says of each of its artifacts. */
  place_bytes: number;
}

/** Summarizes a report, so that one which was sent before is recognised without reading it. */
export function* summarizeReport(report: Report): Steps<ReportSummary> {
  const keys = yield* reportedKeys(report);
  const digest = yield* digestOfTexts(yield* sorted([...keys], compareUnits));
  const place_bytes = yield* countPlaceBytes(report);
  return { type: report.type, digest, artifacts: keys.size, place_bytes };
}
