import { createHash } from "node:crypto";

import { sorted, type Steps } from "../../lib/steps.ts";
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

/** How many texts are hashed at once. */
const inOneGo = 250;

/** The SHA-256 of a list of texts, written as JSON. */
function* digestOf(texts: readonly string[]): Steps<string> {
  const hash = createHash("sha256").update("[");
  for (let at = 0; at < texts.length; at += inOneGo) {
    const some = JSON.stringify(texts.slice(at, at + inOneGo)).slice(1, -1);
    hash.update(at === 0 ? some : `,${some}`);
    yield;
  }
  return hash.update("]").digest("base64");
}

/** The order that `sort` has of its own. */
function byUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** What a report is recognised by. */
export function* briefReport(report: Report): Steps<ReportBrief> {
  const keys = yield* reportedKeys(report);
  const digest = yield* digestOf(yield* sorted([...keys], byUnits));
  return { type: report.type, digest, artifacts: keys.size };
}
