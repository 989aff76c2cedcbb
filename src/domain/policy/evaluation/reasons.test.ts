import { describe, expect, it } from "vitest";

import { parsePolicy } from "../parse.ts";
import { evaluateArtifact } from "../../../../test/support/policy-verdicts.ts";
import type { KnownFlow, PolicySubject, PolicyVersion } from "./model.ts";

function version(rules: string): PolicyVersion {
  const policy = parsePolicy(`_schema: https://x.test/v1\nartifacts: ${rules}`);
  return { id: "1", name: "base", version: 3, policy };
}

function artifact(flows: readonly KnownFlow[]): PolicySubject {
  return { name: "web", fingerprint: "ab".repeat(32), allow_listed: false, flows };
}

const build: KnownFlow = {
  flow_name: "web-ci",
  trail_name: "web-ci-1",
  tags: {},
  artifact_status: "COMPLIANT",
  attestations: [],
};
const promotion: KnownFlow = {
  ...build,
  flow_name: "promotion",
  trail_name: "promotion-1",
  artifact_status: "INCOMPLETE",
};
const decided = {
  ...build,
  attestations: [{ name: "d", type: "decision", is_compliant: false, control: "C" }],
};

describe("reasons", () => {
  it.each<[string, readonly KnownFlow[], string[]]>([
    ["provenance: {required: true}", [], ["No flow knows this artifact"]],
    ["trail-compliance: {required: true}", [], ["No flow knows this artifact, so it has no compliant trail"]],
    [
      "trail-compliance: {required: true}",
      [promotion],
      ["Artifact is INCOMPLETE in trail 'promotion-1' of flow 'promotion'"],
    ],
    [
      "trail-compliance: {required: true}",
      [{ ...build, artifact_status: null, trail_name: null }],
      ["Artifact is not COMPLIANT in flow 'web-ci'"],
    ],
    [
      "attestations: [{type: snyk}]",
      [],
      ["No flow knows this artifact, so it has no attestation of type 'snyk'"],
    ],
    [
      "attestations: [{type: snyk, name: scan}]",
      [build],
      ["There is no attestation 'scan' of type 'snyk' in trail 'web-ci-1' of flow 'web-ci'"],
    ],
    [
      "attestations: [{type: '*', name: scan}]",
      [build],
      ["There is no attestation 'scan' in trail 'web-ci-1' of flow 'web-ci'"],
    ],
    [
      "attestations: [{type: decision, name: d, for_control: C}, {type: decision}]",
      [decided],
      [
        "The latest decision 'd' for control 'C' in trail 'web-ci-1' of flow 'web-ci' is not compliant",
        "The latest decision in trail 'web-ci-1' of flow 'web-ci' is not compliant",
      ],
    ],
  ])("%s", (rules, flows, messages) => {
    const { reasons_for_incompliance } = evaluateArtifact(artifact(flows), [version(`{${rules}}`)]);
    expect(reasons_for_incompliance.map(({ message }) => message)).toEqual(messages);
  });
});
