import { describe, expect, it } from "vitest";

import { judgeRuntime } from "../../../test/support/judging.ts";
import { finish } from "../../lib/steps.ts";
import type { PolicyVersion } from "../policy/evaluation/model.ts";
import { parsePolicy } from "../policy/parse.ts";
import { policyDump } from "../policy/print.ts";
import { judgedBy, judgedBySamePolicies } from "./judge.ts";
import { documentFormat } from "./print.ts";
import type { FlowFact } from "./provenance.ts";
import type { RunningArtifact } from "./running.ts";

function version(rules: string, name: string): PolicyVersion {
  const policy = parsePolicy(`_schema: https://x.test/v1\nartifacts: ${rules}`);
  return { id: `id-${name}`, name, version: 3, policy };
}

function running(name: string, fingerprint: string): RunningArtifact {
  return { name, fingerprint, creationTimestamp: [1], pods: null };
}

const strict = version("{provenance: {required: true}}", "strict");
const lax = version("{}", "lax");
const [known, unknown] = ["ab".repeat(32), "cd".repeat(32)];
const facts = new Map([
  [known, [{ flow_name: "ci", trail_name: "run", tags: {}, attestations: [] } as unknown as FlowFact]],
]);
const [built, bought] = [running("built", known), running("bought", unknown)];

describe("what an environment is worth", () => {
  it.each<[string, readonly RunningArtifact[], readonly PolicyVersion[], string[], boolean | null]>([
    ["nothing runs, nothing asked", [], [], [], null],
    ["nothing runs", [], [strict], [], true],
    ["nothing asked", [built], [], [], null],
    ["all comply", [built], [strict, lax], [], true],
    ["one does not", [built, bought], [lax, strict], [], false],
    ["one is trusted", [built, bought], [strict], [unknown], true],
  ])("%s", (_, artifacts, policies, trusted, state) => {
    const verdict = judgeRuntime({ running: artifacts, facts, policies, allowed: new Set(trusted) });
    expect(verdict.state).toBe(state);
  });

  it.each<[boolean | null, (boolean | null)[], readonly PolicyVersion[], boolean | null]>([
    [true, [true], [], true],
    [true, [null], [], null],
    [true, [null], [strict], true],
    [true, [false], [strict], false],
    [null, [true], [lax], true],
  ])("in a logical one by its members: %#", (theirs, states, policies, state) => {
    const members = { states, verdicts: new Map([[`${known} built`, [theirs]]]) };
    const verdict = judgeRuntime({ running: [built], facts, policies, allowed: new Set(), members });
    expect(verdict.state).toBe(state);
  });

  it("names what fails each policy, once", () => {
    const artifacts = [bought, built, running("again", unknown), running("unknown", "")];
    const { applied_policies, failing_versions } = judgeRuntime({
      running: artifacts,
      facts,
      policies: [lax, strict],
      allowed: new Set(),
    });
    expect(applied_policies).toEqual([
      { id: "id-lax", name: "lax", version: 3, policy_dump: policyDump(lax.policy) },
      { id: "id-strict", name: "strict", version: 3, policy_dump: policyDump(strict.policy) },
    ]);
    expect(failing_versions.map((places) => places.map((place) => artifacts[place]!.fingerprint))).toEqual([
      [],
      [unknown, ""],
    ]);
  });
});

describe("judgedBySamePolicies", () => {
  const text = finish(judgedBy({ policies: [strict, lax], allowed: new Set([known]) }, new Set([known])));

  it.each<[string, readonly PolicyVersion[], boolean]>([
    ["the same", [strict, lax], true],
    ["another order", [lax, strict], true],
    ["one less", [strict], false],
    ["another version", [strict, { ...lax, version: 4 }], false],
    ["another policy of that name", [strict, { ...lax, id: "id-other" }], false],
  ])("%s", (_, policies, same) => {
    expect(judgedBySamePolicies(text, policies)).toBe(same);
  });

  it("knows nothing of what was forgotten", () => {
    expect(judgedBySamePolicies("", [strict])).toBe(true);
  });

  it("understands former texts, which have all that was trusted", () => {
    const versions = [strict, lax].map(({ id, name, version: number }) => [id, name, number]);
    const former = JSON.stringify([documentFormat, versions, [known, unknown]]);
    expect(judgedBySamePolicies(former, [lax, strict])).toBe(true);
    expect(judgedBySamePolicies(former, [strict])).toBe(false);
  });
});
