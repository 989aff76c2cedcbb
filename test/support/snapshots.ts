import { expect } from "vitest";

import type { TestOrg } from "./app.ts";
import { fingerprintOf } from "./artifacts.ts";
import type { Answer } from "./client.ts";

/** What runs, as servers report it: names that stand for fingerprints of their own, or names with a fingerprint. */
export type Running = (string | { name: string; fingerprint: string; started?: number[] })[];

const start = 1_780_000_000;

/** A report of kind `server`. */
export function serverReport(running: Running): Record<string, unknown> {
  return {
    artifacts: running.flatMap((each) => {
      const artifact = typeof each === "string" ? { name: each, fingerprint: fingerprintOf(each) } : each;
      const { name, fingerprint, started } = { started: [start], ...artifact };
      return started.map((creationTimestamp) => ({ digests: { [name]: fingerprint }, creationTimestamp }));
    }),
  };
}

/** Reports what runs on a server, as its reporter would. */
export function reportServer(org: TestOrg, environment: string, running: Running): Promise<Answer> {
  return org.snapshotter.put(`/environments/${org.name}/${environment}/report/server`, serverReport(running));
}

/** The latest snapshot, or the one an expression names. */
export async function getSnapshot(
  org: TestOrg,
  environment: string,
  expression = "-1",
): Promise<Answer["json"]> {
  const path = `/snapshots/${org.name}/${environment}/${encodeURIComponent(expression)}`;
  const answer = await org.reader.get(path);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

/** `name: annotation was>now` of each artifact, in the order in which they are shown. */
export function annotations(snapshot: Answer["json"]): string[] {
  const artifacts: { name: string; annotation: { type: string; was: number; now: number } }[] =
    snapshot.artifacts;
  return artifacts.map(({ name, annotation: { type, was, now } }) => `${name}: ${type} ${was}>${now}`);
}
