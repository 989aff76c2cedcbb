import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  fact,
  fingerprint,
  judge,
  plan,
  predecessor,
  running,
  shownOf,
} from "../../../test/support/judged-case.ts";
import { finish } from "../../lib/steps.ts";
import { lineageText, snapshotFlows } from "./flows-of.ts";
import { contentsPieces, printArtifact } from "./print.ts";
import type { SnapshotFlow } from "./provenance.ts";
import type { NewVersion } from "./versions.ts";

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
        const kept = { flows, running: { creationTimestamp: [1], pods: null } };
        const version = { ...printed, ...kept, type: "unchanged", was: 1, now: 1 } as NewVersion;
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
          const doc = printed.doc + JSON.stringify([flows, each]) + printed.decisions;
          const contents = [...contentsPieces(judged!, flows)].join("");
          expect(texts.get(contents) ?? doc).toBe(doc);
          texts.set(contents, doc);
        }
    expect(new Set(texts.values()).size).toBe(texts.size);
    // On the allow-list attestations make no difference.
    expect(texts.size).toBe(facts.length * runs.length * 2 - runs.length);
  });
});
