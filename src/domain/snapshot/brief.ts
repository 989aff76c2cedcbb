import { sha256 } from "../../lib/hash.ts";
import { reportedKeys } from "./flatten.ts";
import type { Report } from "./report.ts";

/** What a report amounts to. */
export interface ReportBrief {
  type: Report["type"];
  /** The same for all reports of the same artifacts: times, numbers of instances and places do not count. */
  digest: string;
  /** How many different artifacts it names. */
  artifacts: number;
}

/** What a report is recognised by. */
export function briefReport(report: Report): ReportBrief {
  const keys = reportedKeys(report);
  const digest = sha256(JSON.stringify([...keys].sort())).toString("base64");
  return { type: report.type, digest, artifacts: keys.size };
}
