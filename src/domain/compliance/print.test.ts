import { expect, it } from "vitest";

import { evaluateTrail } from "./evaluate.ts";
import { printCompliance } from "./print.ts";

const id = (digit: string): string => `${digit.repeat(8)}-1111-7111-8111-${digit.repeat(8)}0000`;
const shown = (digit: string): string => id(digit).slice(0, 32);

const row = (attestation_name: string, more: Record<string, unknown> = {}) => ({
  attestation_name,
  attestation_type: "generic",
  attestation_id: null,
  overridden_attestation_id: null,
  status: "MISSING",
  is_compliant: null,
  unexpected: false,
  ...more,
});

it("prints the verdict with keys and artifacts in their order, names like numbers included", () => {
  const compliance = evaluateTrail(
    {
      version: 1,
      trail: {
        attestations: [{ name: "bar", type: "generic" }],
        artifacts: [
          { name: "web", attestations: [] },
          { name: "2", attestations: [] },
          { name: "1", attestations: [{ name: "foo", type: "generic" }] },
        ],
      },
    },
    {
      artifacts: [
        {
          artifact_id: id("a"),
          template_reference_name: "2",
          fingerprint: "f",
          git_commit: null,
          reported_at: 5,
        },
      ],
      attestations: [true, false]
        .map((is_override) => ({
          attestation_id: id(is_override ? "c" : "b"),
          name: "bar",
          type: "generic",
          is_compliant: false,
          is_override,
          artifact_fingerprint: null,
          target_artifacts: null,
          git_commit: null,
          reported_at: 6,
        }))
        .toReversed(),
    },
  );
  const evaluation = { evaluated_at: 6.5, flow_template_id: shown("e") };
  const artifact = (more: Record<string, unknown>) => ({
    artifact_fingerprint: null,
    artifact_id: null,
    status: "MISSING",
    is_compliant: null,
    attestations_statuses: [],
    unexpected: false,
    ...more,
  });
  const judged = artifact({
    artifact_fingerprint: "f",
    artifact_id: shown("a"),
    status: "COMPLIANT",
    is_compliant: true,
    ...evaluation,
  });
  const bar = row("bar", {
    attestation_id: shown("c"),
    overridden_attestation_id: shown("b"),
    status: "COMPLETE",
    is_compliant: false,
  });
  expect(printCompliance(compliance, { evaluated_at: 6.5, template_id: id("e") })).toBe(
    `{"status":"NON-COMPLIANT","is_compliant":false,"attestations_statuses":[${JSON.stringify(bar)}],` +
      `"artifacts_statuses":{"web":${JSON.stringify(artifact({}))},"2":${JSON.stringify(judged)},` +
      `"1":${JSON.stringify(artifact({ attestations_statuses: [row("foo")] }))}},` +
      `"evaluated_at":6.5,"flow_template_id":"${shown("e")}"}`,
  );
});
