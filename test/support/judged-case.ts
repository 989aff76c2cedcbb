import { ByteWriter } from "../../src/lib/byte-writer.ts";
import { finish, type Steps } from "../../src/lib/steps.ts";
import type { PolicyVersion } from "../../src/domain/policy/evaluation/model.ts";
import { parsePolicy } from "../../src/domain/policy/parse.ts";
import { takeApart, writeDocument } from "../../src/domain/snapshot/documents.ts";
import type { Predecessor } from "../../src/domain/snapshot/flows-of.ts";
import type { FlowFact } from "../../src/domain/snapshot/provenance.ts";
import type { RunningArtifact } from "../../src/domain/snapshot/running.ts";
import {
  compareVersions,
  type NewVersion,
  planSnapshot,
  type StoredVersion,
} from "../../src/domain/snapshot/versions.ts";
import { type JudgedCase, judgeRuntime } from "./judging.ts";

/** Of the artifact that all cases are about. */
export const fingerprint = "ab".repeat(32);
/** It was made from. */
export const commit = "c0".repeat(20);

const policy: PolicyVersion = {
  id: "93d8505f-bce5-4c7c-a2c8-f98236c80000",
  name: "base",
  version: 2,
  policy: parsePolicy(`_schema: https://x.test/v1
artifacts:
  provenance: {required: true, exceptions: [{if: "\${{ artifact.name == 'sidecar' }}"}]}
  trail-compliance: {required: true}
  attestations: [{type: junit, name: unit, if: "\${{ flow.name == 'web-ci' }}"}]`),
};

/** An artifact that runs. */
export function running(name: string, more: Partial<RunningArtifact> = {}): RunningArtifact {
  return { name, fingerprint, creationTimestamp: [1_786_000_100], pods: null, ...more };
}

/** What a flow knows of it. */
export function fact(more: Partial<FlowFact> = {}): FlowFact {
  return {
    version: "1",
    fingerprint,
    artifact_id: "0199c6ff-1415-7cd1-88d0-a0dfcbcb0000",
    flow_id: "flow-1",
    flow_name: "web-ci",
    trail_id: "trail-1",
    trail_name: "run-1",
    tags: {},
    template_reference_name: "web",
    git_commit: commit,
    commit_url: `https://git.test/a/b/commit/${commit}`,
    build_url: "https://ci.test/1",
    git_commit_info: {
      sha1: commit,
      message: "m",
      author: "Ann",
      branch: "main",
      timestamp: 1_786_000_000.5,
      url: "https://git.test/a/b",
    },
    repo_id: null,
    compliance_state: "COMPLIANT",
    attestations: [{ name: "unit", type: "junit", is_compliant: true, control: null }],
    ...more,
  };
}

/** Judges what runs by what flows know, by one policy unless others are given. */
export function judge(artifacts: RunningArtifact[], facts: FlowFact[], more: Partial<JudgedCase> = {}) {
  return judgeRuntime({
    running: artifacts,
    facts: new Map([[fingerprint, facts]]),
    policies: [policy],
    allowed: new Set(),
    ...more,
  });
}

/** What came before it. */
export const predecessor: Predecessor = {
  name: "web:0",
  fingerprint: "cd".repeat(32),
  trail_name: "run-0",
  git_commit: "0c".repeat(20),
  commit_url: `https://git.test/a/b/commit/${"0c".repeat(20)}`,
  compliance_state: "COMPLIANT",
};

// oxlint-disable-next-line require-yield -- what is compared in tests is short
function* wholeText(pieces: Iterable<string>): Steps<string> {
  return [...pieces].join("");
}

/** Plans what is written of a report, after what was written before. */
export function plan(
  before: readonly StoredVersion[],
  verdict: ReturnType<typeof judge>,
  predecessors: ReadonlyMap<string, Predecessor> = new Map(),
) {
  const annotated = compareVersions(before, verdict.artifacts);
  const artifact_count = Math.max(0, ...before.map(({ id }) => id));
  const isRunning = new Set(verdict.artifacts.map((artifact) => artifact.fingerprint));
  const input = { annotated, running: isRunning, predecessors, artifact_count };
  return finish(planSnapshot({ ...input, digestOf: wholeText }));
}

/** The rows of a plan as the next one finds them. */
export function stored(made: ReturnType<typeof plan>): StoredVersion[] {
  return made.versions.flatMap((version) => {
    if (version.repeats !== null) return [];
    const { id, name, fingerprint: print, compliant, provenance, findings, digest, facts, flows } = version;
    const { creationTimestamp } = version.running!;
    const known = { digest: digest!, facts: facts!, flows: flows! };
    const contents = { provenance: provenance!, findings: findings!, ...known };
    return [{ id, name: name!, fingerprint: print!, creationTimestamp, compliant, ...contents }];
  });
}

/** A version as a snapshot shows it. */
export function shownOf({ doc, flows, running, decisions, ...annotation }: NewVersion) {
  const beside = { flows: JSON.stringify(flows), places: JSON.stringify(running) };
  const document = { ...annotation, doc: doc!, fingerprint, ...beside, decisions_digest: "d" };
  const writer = new ByteWriter(0);
  writeDocument(writer, document, takeApart(decisions!), "https://h.test/acme");
  return JSON.parse(writer.result().toString());
}
