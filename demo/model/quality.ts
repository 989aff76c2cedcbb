import { createHash } from "node:crypto";

import { quality } from "../data/company.ts";
import type { Run } from "./builds.ts";
import { createRandom, type Random } from "./random.ts";

/** What a code-quality server sends after an analysis. */
export type QualityPayload = Record<string, unknown>;

/** Writes a moment as scanners do: `2026-08-01T10:00:00+0000`. */
function scannerTime(at: number): string {
  return `${new Date(at * 1000).toISOString().slice(0, 19)}+0000`;
}

function gate(random: Random, passed: boolean): Record<string, unknown> {
  const coverage = passed ? random.int(80, 97) : random.int(41, 79);
  return {
    name: quality.gate,
    status: passed ? "OK" : "ERROR",
    conditions: [
      {
        metric: "new_coverage",
        operator: "LESS_THAN",
        value: `${coverage}.${random.int(0, 9)}`,
        status: passed ? "OK" : "ERROR",
        errorThreshold: "80",
      },
      { metric: "new_violations", operator: "GREATER_THAN", value: "0", status: "OK", errorThreshold: "0" },
    ],
  };
}

interface Analysis {
  run: Run;
  taskId: string;
  status: string;
  properties: Record<string, string>;
}

function payload(random: Random, { run, taskId, status, properties }: Analysis): QualityPayload {
  const dashboard = `${quality.server}/dashboard?id=${run.flow.name}`;
  return {
    serverUrl: quality.server,
    taskId,
    status,
    analysedAt: scannerTime(run.at),
    revision: run.commit.sha1,
    changedAt: scannerTime(run.at),
    project: { key: run.flow.name, name: run.flow.description, url: dashboard },
    branch: { name: run.commit.branch, type: "BRANCH", isMain: run.commit.branch === "main", url: dashboard },
    ...(status === "SUCCESS" ? { qualityGate: gate(random, random.chance(0.85)) } : {}),
    properties,
  };
}

/** Makes the id of an analysis from a text. */
function taskIdOf(text: string): string {
  return `AZ${createHash("sha256").update(text).digest("hex").slice(0, 18)}`;
}

/**
 * Makes analyses of runs, and what goes wrong in practice: one sent twice, one of a scanner that failed, and one that
 * names an unknown artifact.
 */
export function makeAnalyses(seed: string, runs: readonly Run[]): QualityPayload[] {
  const random = createRandom(`${seed}/quality`);
  const regular = runs.map((run) =>
    payload(random, {
      run,
      taskId: taskIdOf(`${seed} ${run.trail}`),
      status: "SUCCESS",
      properties: {
        "sonar.analysis.waybill_flow": run.flow.name,
        "sonar.analysis.waybill_trail": run.trail,
        "sonar.analysis.waybill_git_commit": run.commit.sha1,
      },
    }),
  );
  const [first] = runs;
  const [sentTwice] = regular;
  if (first === undefined || sentTwice === undefined) return [];
  const failed = payload(random, {
    run: first,
    taskId: taskIdOf(`${seed} failed`),
    status: "FAILED",
    properties: { "sonar.analysis.waybill_flow": first.flow.name },
  });
  const lost = payload(random, {
    run: first,
    taskId: taskIdOf(`${seed} lost`),
    status: "SUCCESS",
    properties: {
      "sonar.analysis.waybill_flow": first.flow.name,
      "sonar.analysis.waybill_trail": first.trail,
      "sonar.analysis.waybill_artifact_fingerprint": createHash("sha256")
        .update(`${seed} lost`)
        .digest("hex"),
    },
  });
  return [...regular, sentTwice, failed, lost];
}
