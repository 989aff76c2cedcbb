import fc from "fast-check";

import type { ArtifactReport, AttestationReport } from "../../src/domain/compliance/model.ts";
import type { Template } from "../../src/domain/template/model.ts";

let clock = 0;

/** A report of an artifact, later than all before. */
export function artifact(name: string, overrides: Partial<ArtifactReport> = {}): ArtifactReport {
  clock += 1;
  return {
    artifact_id: `artifact-${clock}`,
    template_reference_name: name,
    fingerprint: "f1",
    git_commit: "c1",
    reported_at: clock,
    ...overrides,
  };
}

/** An attestation, later than all before. */
export function attestation(
  name: string,
  type: string,
  overrides: Partial<AttestationReport> = {},
): AttestationReport {
  clock += 1;
  return {
    attestation_id: `attestation-${clock}`,
    name,
    type,
    is_compliant: true,
    is_override: false,
    artifact_fingerprint: null,
    target_artifacts: null,
    git_commit: null,
    reported_at: clock,
    ...overrides,
  };
}

const names = fc.constantFrom("a", "b", "c");
const types = fc.constantFrom("generic", "junit", "system:decision");
const expectedTypes = fc.constantFrom("generic", "junit", "*", "decision");
const fingerprints = fc.constantFrom("f1", "f2");
const commits = fc.constantFrom("c1", "c2");

/** Templates over few names, so that reports meet them often. */
export const anyTemplate: fc.Arbitrary<Template> = fc.record({
  version: fc.constant(1),
  trail: fc.record({
    attestations: fc.uniqueArray(fc.record({ name: names, type: expectedTypes }), {
      selector: ({ name }) => name,
    }),
    artifacts: fc.uniqueArray(
      fc.record({
        name: names,
        attestations: fc.uniqueArray(fc.record({ name: names, type: expectedTypes }), {
          selector: ({ name }) => name,
        }),
      }),
      { selector: ({ name }) => name },
    ),
  }),
});

const anyArtifact = fc
  .record({ name: names, fingerprint: fingerprints, git_commit: commits })
  .map(({ name, ...rest }) => artifact(name, rest));

const anyAttestation = fc
  .record({
    name: names,
    type: types,
    is_compliant: fc.boolean(),
    is_override: fc.boolean(),
    place: fc.oneof(
      fc.constant({}),
      fingerprints.map((artifact_fingerprint) => ({ artifact_fingerprint })),
      fc
        .tuple(fc.uniqueArray(names, { minLength: 1, maxLength: 2 }), commits)
        .map(([target_artifacts, git_commit]) => ({ target_artifacts, git_commit })),
    ),
  })
  .map(({ name, type, place, ...rest }) => attestation(name, type, { ...rest, ...place }));

/** Everything reported on some trail. */
export const anyReports = fc.record({
  artifacts: fc.array(anyArtifact, { maxLength: 5 }),
  attestations: fc.array(anyAttestation, { maxLength: 10 }),
});
