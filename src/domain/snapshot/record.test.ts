// One file, although a long one: half of it makes the case that all of these tests look at.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { PolicyVersion } from "../policy/evaluation/model.ts";
import { parsePolicy } from "../policy/parse.ts";
import { lineageText, type Predecessor, snapshotFlows } from "./flows-of.ts";
import { type JudgedCase, judgeRuntime } from "../../../test/support/judging.ts";
import { finish } from "../../lib/steps.ts";
import { movesIn, turnIn } from "./occurrences.ts";
import { ByteWriter } from "../../lib/byte-writer.ts";
import { takeApart, writeDocument } from "./documents.ts";
import { contentsText, printArtifact } from "./print.ts";
import type { FlowFact, SnapshotFlow } from "./provenance.ts";
import { artifactKey, type RunningArtifact } from "./running.ts";
import {
  compareVersions,
  type NewVersion,
  planSnapshot,
  type StoredVersion,
  unknownLineage,
} from "./versions.ts";

const fingerprint = "ab".repeat(32);
const commit = "c0".repeat(20);

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

function running(name: string, more: Partial<RunningArtifact> = {}): RunningArtifact {
  return { name, fingerprint, creationTimestamp: [1_786_000_100], pods: null, ...more };
}

function fact(more: Partial<FlowFact> = {}): FlowFact {
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

function judge(artifacts: RunningArtifact[], facts: FlowFact[], more: Partial<JudgedCase> = {}) {
  return judgeRuntime({
    running: artifacts,
    facts: new Map([[fingerprint, facts]]),
    policies: [policy],
    allowed: new Set(),
    ...more,
  });
}

const predecessor: Predecessor = {
  name: "web:0",
  fingerprint: "cd".repeat(32),
  trail_name: "run-0",
  git_commit: "0c".repeat(20),
  commit_url: `https://git.test/a/b/commit/${"0c".repeat(20)}`,
  compliance_state: "COMPLIANT",
};

function plan(
  before: readonly StoredVersion[],
  verdict: ReturnType<typeof judge>,
  predecessors: ReadonlyMap<string, Predecessor> = new Map(),
) {
  const annotated = compareVersions(before, verdict.artifacts);
  const artifact_count = Math.max(0, ...before.map(({ id }) => id));
  const isRunning = new Set(verdict.artifacts.map((artifact) => artifact.fingerprint));
  const input = { annotated, running: isRunning, predecessors, artifact_count };
  return finish(planSnapshot({ ...input, digestOf: (doc) => doc }));
}

/** The rows of a plan as the next one finds them. */
function stored(made: ReturnType<typeof plan>): StoredVersion[] {
  return made.versions.flatMap((version) => {
    if (version.repeats !== null) return [];
    const { id, name, fingerprint: print, compliant, provenance, findings, digest, facts, flows } = version;
    const artifact = { name: name!, fingerprint: print!, ...version.running! };
    const { creationTimestamp } = artifact;
    const known = { digest: digest!, facts: facts!, flows: flows! };
    const contents = { provenance: provenance!, findings: findings!, ...known };
    return [
      { id, name: name!, fingerprint: print!, creationTimestamp, compliant, running: artifact, ...contents },
    ];
  });
}

/** Every path in a value with the types that stand there. */
function keyTree(value: unknown): Record<string, string> {
  const tree = new Map<string, Set<string>>();
  const walk = (path: string, inner: unknown): void => {
    const type = inner === null ? "null" : Array.isArray(inner) ? "array" : typeof inner;
    tree.set(path, (tree.get(path) ?? new Set()).add(type));
    if (Array.isArray(inner)) for (const item of inner) walk(`${path}[]`, item);
    else if (typeof inner === "object" && inner !== null)
      for (const [key, item] of Object.entries(inner)) walk(`${path}.${key}`, item);
  };
  walk("", value);
  return Object.fromEntries([...tree].map(([path, types]) => [path, [...types].sort().join("|")]));
}

const diffKeys = {
  diff_url: "string",
  previous_git_commit: "string",
  previous_fingerprint: "string",
  previous_artifact_name: "string",
  previous_artifact_compliance_state: "string",
  previous_running: "boolean",
  previous_git_commit_url: "string",
  previous_trail_name: "string",
  previous_template_reference_name: "string",
};

const commitKeys = { sha1: "string", message: "string", author: "string", branch: "string" };

function below(path: string, keys: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(keys).map(([key, type]) => [`${path}.${key}`, type]));
}

/** What clients of the public interface read of an artifact. */
const artifactTree: Record<string, string> = {
  "": "object",
  ".name": "string",
  ".compliant": "boolean",
  ".deployments": "array",
  ".policy_decisions": "array",
  ".policy_decisions[]": "object",
  ...below(".policy_decisions[]", {
    policy_name: "string",
    policy_version: "number",
    status: "string",
    rule_evaluations: "array",
  }),
  ".policy_decisions[].rule_evaluations[]": "object",
  ...below(".policy_decisions[].rule_evaluations[]", {
    rule: "object",
    "rule.type": "string",
    "rule.definition": "object",
    "rule.definition.required": "boolean",
    "rule.definition.exceptions": "array",
    "rule.definition.exceptions[]": "object",
    "rule.definition.exceptions[].if": "object",
    "rule.definition.exceptions[].if.text": "string",
    "rule.definition.if": "object",
    "rule.definition.if.text": "string",
    "rule.definition.name": "string",
    "rule.definition.type": "string",
    "rule.definition.must_be_compliant": "boolean",
    "rule.definition.for_control": "null",
    satisfied: "boolean",
    ignored: "boolean",
    resolutions: "array",
    "resolutions[]": "object",
    "resolutions[].type": "string",
    "resolutions[].context": "object",
    "resolutions[].context.flow_name": "string",
    "resolutions[].context.trail_name": "string",
    "resolutions[].context.artifact_status": "null|string",
  }),
  ".reasons_for_incompliance": "array",
  ".fingerprint": "string",
  ".creationTimestamp": "array",
  ".creationTimestamp[]": "number",
  ".pods": "null",
  ".annotation": "object",
  ...below(".annotation", { type: "string", was: "number", now: "number" }),
  ...below("", { flow_name: "string", git_commit: "string", commit_url: "string" }),
  ...below("", { html_url: "string", flow_html_url: "string", commit_lead_time: "number" }),
  ".deployment_diff": "object",
  ...below(".deployment_diff", diffKeys),
  ".flows": "array",
  ".flows[]": "object",
  ...below(".flows[]", {
    flow_name: "string",
    trail_name: "string",
    template_reference_name: "string",
    git_commit: "string",
    commit_url: "string",
    git_commit_info: "object",
    html_url: "string",
    flow_html_url: "string",
    deployment_diff: "object",
    commit_lead_time: "number",
    artifact_compliance_in_flow: "boolean",
    flow_reasons_for_non_compliance: "array",
  }),
  ...below(".flows[].git_commit_info", { ...commitKeys, timestamp: "number", url: "string" }),
  ...below(".flows[].deployment_diff", diffKeys),
  ".ecs_context": "object",
  ...below(".ecs_context", { task_arn: "string", cluster_name: "null", service_name: "null" }),
};

/** A version as a snapshot shows it. */
function shownOf({ doc, flows, decisions, ...annotation }: NewVersion) {
  const stored = { doc: doc!, fingerprint, flows: JSON.stringify(flows), decisions_digest: "d" };
  const document = { ...annotation, ...stored };
  const writer = new ByteWriter(0);
  writeDocument(writer, document, takeApart(decisions!), "https://h.test/acme");
  return JSON.parse(writer.result().toString());
}

describe("an artifact's document", () => {
  it("has exactly the keys and types of the public interface", () => {
    const ecs_context = { task_arn: "arn", cluster_name: null, service_name: null };
    const verdict = judge([running("web:1", { ecs_context })], [fact()]);
    const made = plan([], verdict, new Map([[lineageText(fact()), predecessor]]));
    const shown = shownOf(made.versions[0]!);
    expect(keyTree(shown)).toEqual(artifactTree);
    expect(Object.keys(shown).slice(0, 5)).toEqual([
      "name",
      "compliant",
      "deployments",
      "policy_decisions",
      "reasons_for_incompliance",
    ]);
    expect([shown.commit_lead_time, shown.compliant]).toEqual([99.5, true]);
    expect(shown.deployment_diff.previous_running).toBe(false);
    expect(shown.flow_html_url).toBe("https://h.test/acme/flows/web-ci");
  });

  it("says that no rule applies to what is trusted", () => {
    const verdict = judge([running("web:1")], [], { allowed: new Set([fingerprint]) });
    const shown = shownOf(plan([], verdict).versions[0]!);
    expect([verdict.state, shown.allow_listed]).toEqual([true, true]);
  });
});

describe("an artifact that a policy wants compliant on its trail", () => {
  it.each(["COMPLIANT", "INCOMPLETE", "NON-COMPLIANT", "MISSING"] as const)("when it is %s", (state) => {
    const [artifact] = judge([running("web:1")], [fact({ compliance_state: state })]).artifacts;
    expect(artifact?.compliant).toBe(state === "COMPLIANT");
  });
});

describe("a logical environment", () => {
  it("is worth what its members and its own policies say, as is each artifact", () => {
    const artifact = running("web:1");
    const members = { states: [true, false], verdicts: new Map([[artifactKey(artifact), [true]]]) };
    const own = judge([artifact], [fact()], { members });
    expect([own.state, own.artifacts[0]?.compliant]).toEqual([false, true]);
    const none = judge([artifact], [fact()], { members, policies: [] });
    expect([none.state, none.artifacts[0]?.compliant]).toEqual([false, true]);
    const unknown = { states: [null], verdicts: new Map([[artifactKey(artifact), [null]]]) };
    const open = judge([artifact], [fact()], { members: unknown, policies: [] });
    expect([open.state, open.artifacts[0]?.compliant]).toEqual([null, null]);
  });
});

describe("a plan", () => {
  it("uses versions again of which nothing has changed, and repeats those that have exited", () => {
    const first = plan([], judge([running("a"), running("b")], [fact()]));
    expect([first.artifacts, first.ended, first.artifact_count]).toEqual([[1, 2], [], 2]);
    const second = plan(stored(first), judge([running("a")], [fact()]));
    expect([second.artifacts, second.ended, second.artifact_count]).toEqual([[1, 3], [2], 3]);
    expect(second.versions).toMatchObject([{ id: 3, type: "exited", was: 1, now: 0, repeats: 2 }]);
  });

  it("replaces a version of which anything shown has changed", () => {
    const first = plan([], judge([running("a")], [fact()]));
    const restarted = judge([running("a", { creationTimestamp: [1, 2] })], [fact()]);
    const second = plan(stored(first), restarted);
    expect([second.artifacts, second.ended]).toEqual([[2], [1]]);
    expect(second.versions).toMatchObject([{ type: "unchanged", was: 1, now: 2, repeats: null }]);
  });

  it("asks for what came before only where that is not known yet, and keeps what is", () => {
    const before = plan([], judge([running("a")], [fact()]), new Map([[lineageText(fact()), predecessor]]));
    const verdict = judge([running("a")], [fact({ trail_id: "trail-2" }), fact({ flow_id: "flow-2" })]);
    const unknown = unknownLineage(stored(before)[0], verdict.artifacts[0]!.facts);
    expect(unknown).toMatchObject([{ flow_id: "flow-2" }]);
    const [version] = plan(stored(before), verdict).versions;
    expect(version?.type).toBe("updated-provenance");
    expect(version?.flows?.map(({ deployment_diff }) => deployment_diff?.previous_fingerprint)).toEqual([
      predecessor.fingerprint,
      undefined,
    ]);
  });

  it("has one lineage entry for a fingerprint under two names, started if either did", () => {
    const first = plan([], judge([running("a")], [fact()]));
    const second = plan(
      stored(first),
      judge([running("b"), running("a", { creationTimestamp: [9] })], [fact()]),
    );
    expect(second.lineage).toMatchObject([{ fingerprint, flow_id: "flow-1", started: true }]);
  });
});

describe("occurrences", () => {
  const environment = { id: "e", name: "prod", type: "server" };
  const news = (state: boolean | null, state_before: boolean | null) => {
    const annotated = compareVersions([], judge([running("a")], [fact()]).artifacts);
    const given = { environment, at: 7, snapshot: { index: 3, compliant: state } };
    return [...movesIn(given, annotated), ...turnIn(given, state_before)];
  };

  it("tell of artifacts and of verdicts that changed", () => {
    expect(news(true, null).map(({ trigger }) => trigger)).toEqual([
      "ON_STARTED_ARTIFACT",
      "ON_COMPLIANT_ENV",
    ]);
    expect(news(false, true).at(-1)?.trigger).toBe("ON_NON_COMPLIANT_ENV");
    for (const state of [true, false, null]) expect(news(state, state)).toHaveLength(1);
    expect(news(null, true)).toHaveLength(1);
    const provenance = {
      flow: "web-ci",
      trail: "run-1",
      status: "COMPLIANT",
      commit,
      commit_url: `https://git.test/a/b/commit/${commit}`,
      build_url: "https://ci.test/1",
    };
    expect(news(true, true)[0]).toEqual({
      trigger: "ON_STARTED_ARTIFACT",
      subject: { kind: "environment", id: "e", name: "prod" },
      at: 7,
      facts: {
        snapshot: { index: 3, compliant: true },
        artifact: { name: "a", fingerprint, provenance },
      },
    });
  });

  it("tell where an artifact that exited came from, and of an unknown one that nobody knows", () => {
    const first = plan([], judge([running("a")], [fact()]));
    const gone = compareVersions(stored(first), []);
    const given = { environment, at: 8, snapshot: { index: 4, compliant: null } };
    expect(movesIn(given, gone)).toMatchObject([
      {
        trigger: "ON_EXITED_ARTIFACT",
        facts: { artifact: { provenance: { flow: "web-ci", build_url: null } } },
      },
    ]);
    const unknown = compareVersions([], judge([running("a")], []).artifacts);
    expect(movesIn(given, unknown)).toMatchObject([
      { trigger: "ON_STARTED_ARTIFACT", facts: { artifact: { provenance: null } } },
    ]);
  });
});

describe("documents", () => {
  it("show what policies decided, however many flows know the artifact", () => {
    const known = [[], ["web-ci"], ["web-ci", "api-ci"], ["api-ci", "web-ci", "a$&b"]];
    const texts = known.map((names) => {
      const facts = names.map((name, at) =>
        fact({ flow_id: name, flow_name: name, trail_name: `run-${at}`, attestations: [] }),
      );
      const verdict = judge([running("web:1"), running("web:2")], facts);
      const { versions } = plan([], verdict);
      const decisions = verdict.artifacts.map((artifact) => artifact.verdict.policy_decisions);
      expect(versions.map((version) => shownOf(version).policy_decisions)).toEqual(decisions);
      // Both are judged alike, so that their texts are the same, and hold nothing of the flows.
      const [text, ...others] = new Set(versions.map((version) => version.decisions!));
      expect([others, names.filter((name) => text!.includes(`"flow_name":"${name}"`))]).toEqual([[], []]);
      return text;
    });
    expect(new Set(texts).size).toBe(known.length);
  });

  it("show decisions as they are, whatever they and the flows are called", () => {
    // Names of flows are safe in links; whatever else policies tell is any text.
    const flow_name = fc.constantFrom("a", "b", "flow_name", "trail_name", "0");
    const word = fc.constantFrom("a", '"', "\\", "$1", "\u0003", "0", '"flow_name":"a","trail_name":"', "}]");
    const trail_name = fc.array(word, { maxLength: 4 }).map((words) => words.join(""));
    const context = fc.record({ flow_name, trail_name });
    const [judged] = judge([running("web:1")], [fact()]).artifacts;
    fc.assert(
      fc.property(fc.array(context, { maxLength: 3 }), trail_name, (contexts, other) => {
        const flows = contexts.map((each) => ({ ...fact(), ...each })) as unknown as SnapshotFlow[];
        const rules = [contexts, [], contexts.toReversed()].map((each) => ({
          rule: { type: other },
          resolutions: each.map((one) => ({ type: other, context: one })),
        }));
        const policy_decisions = [{ policy_name: other, rule_evaluations: rules }] as never;
        const verdict = { ...judged!.verdict, policy_decisions };
        const printed = finish(printArtifact({ ...judged!, verdict }, flows));
        const version = { ...printed, flows, type: "unchanged", was: 1, now: 1 } as NewVersion;
        expect(shownOf(version).policy_decisions).toEqual(policy_decisions);
      }),
    );
  });
});

describe("contents of an artifact", () => {
  it("differ whenever its document does", () => {
    const texts = new Map<string, string>();
    const facts = [[], [fact()], [fact({ trail_name: "run-2" })], [fact({ attestations: [] })]];
    const runs = [running("web:1"), running("web:1", { creationTimestamp: [1, 2] }), running("web:2")];
    for (const known of facts)
      for (const each of runs)
        for (const allowed of [new Set<string>(), new Set([fingerprint])]) {
          const [judged] = judge([each], known, { allowed }).artifacts;
          const flows = snapshotFlows(judged!, {
            before: new Map(),
            predecessors: new Map(),
            running: new Set(),
          });
          const printed = finish(printArtifact(judged!, flows));
          const doc = printed.doc + JSON.stringify(flows) + printed.decisions;
          const contents = contentsText(judged!, flows);
          expect(texts.get(contents) ?? doc).toBe(doc);
          texts.set(contents, doc);
        }
    expect(new Set(texts.values()).size).toBe(texts.size);
    // On the allow-list attestations make no difference.
    expect(texts.size).toBe(facts.length * runs.length * 2 - runs.length);
  });
});
