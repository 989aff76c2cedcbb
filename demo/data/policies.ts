import { releaseFlow } from "./flows.ts";

/** A policy of the company. */
export interface Policy {
  name: string;
  description: string;
  yaml: string;
}

const ofBuilds = `exists(flow) and flow.name != "${releaseFlow.name}"`;

function policy(name: string, description: string, artifacts: string): Policy {
  const yaml = `_schema: https://policies.harborlight.example/environment/v1\nartifacts:\n${artifacts}`;
  return { name, description, yaml };
}

/** The company's policies. Releases of other flows' builds carry approvals, not tests: the last two pass them over. */
export const policies: readonly Policy[] = [
  policy(
    "known-origin",
    "Every build is one of ours, or of the mesh",
    `  provenance:
    required: true
    exceptions:
      - if: \${{ matches(artifact.name, "^registry\\.mesh\\.example/") }}
`,
  ),
  policy(
    "tested-and-reviewed",
    "Unit tests passed, and somebody else has looked at what may hurt",
    `  attestations:
    - type: junit
      name: unit-tests
      if: \${{ ${ofBuilds} }}
    - type: pull_request
      if: \${{ ${ofBuilds} and flow.tags.risk == "high" }}
`,
  ),
  policy(
    "complete-trails",
    "The trail has everything its flow asks for",
    `  trail-compliance:
    required: true
    exceptions:
      - if: \${{ not exists(flow) or flow.name == "${releaseFlow.name}" }}
      - if: \${{ flow.tags.risk == "low" }}
`,
  ),
];
