import { createHash } from "node:crypto";

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

/** Texts that are hashed before somebody else may do something. */
const inOneGo = 250;

/** Hashes a list of texts, written as JSON, with SHA-256. */
function* digestOf(texts: readonly string[]): Steps<string> {
  const hash = createHash("sha256").update("[");
  for (let at = 0; at < texts.length; at += inOneGo) {
    const some = JSON.stringify(texts.slice(at, at + inOneGo)).slice(1, -1);
    hash.update(at === 0 ? some : `,${some}`);
    yield;
  }
  return hash.update("]").digest("base64");
}

/** Summarizes a report, so that one which was sent before is recognised without reading it. */
export function* summarizeReport(report: Report): Steps<ReportSummary> {
  const keys = yield* reportedKeys(report);
  const digest = yield* digestOf(yield* sorted([...keys], compareUnits));
  const place_bytes = yield* countPlaceBytes(report);
  return { type: report.type, digest, artifacts: keys.size, place_bytes };
}
