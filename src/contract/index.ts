import { actionEndpoints } from "./actions.ts";
import { allowlistEndpoints } from "./allowlists.ts";
import { artifactEndpoints } from "./artifacts.ts";
import { assertEndpoints } from "./asserts.ts";
import { attestationTypeEndpoints } from "./attestation-types.ts";
import { attestationEndpoints } from "./attestations.ts";
import { auditEndpoints } from "./audit.ts";
import { buildEndpoints } from "./builds.ts";
import { controlEndpoints } from "./controls.ts";
import { deploymentEndpoints } from "./deployments.ts";
import { environmentEventEndpoints } from "./environment-events.ts";
import { environmentEndpoints } from "./environments.ts";
import { environmentExplanationEndpoints } from "./environment-explanations.ts";
import { explanationEndpoints } from "./explanations.ts";
import { flowEndpoints } from "./flows.ts";
import { liveArtifactEndpoints } from "./live-artifacts.ts";
import { memberEndpoints } from "./members.ts";
import { notificationEndpoints } from "./notifications.ts";
import { organizationEndpoints } from "./organizations.ts";
import { policyEndpoints } from "./policies.ts";
import { policyPreviewEndpoints } from "./policy-preview.ts";
import { qualityEndpoints } from "./quality.ts";
import { repoEndpoints } from "./repos.ts";
import { searchEndpoints } from "./search.ts";
import { serviceAccountEndpoints } from "./service-accounts.ts";
import { silenceEndpoints } from "./silence.ts";
import { snapshotReportEndpoints } from "./snapshot-reports.ts";
import { snapshotEndpoints } from "./snapshots.ts";
import { spaceEndpoints } from "./spaces.ts";
import { systemEndpoints } from "./system.ts";
import { tagEndpoints } from "./tags.ts";
import { trailEndpoints } from "./trails.ts";
import { userEndpoints } from "./users.ts";
import type { Endpoints } from "./endpoint.ts";

/** The whole public API, by operation id. */
export const endpoints = {
  ...organizationEndpoints,
  ...userEndpoints,
  ...memberEndpoints,
  ...serviceAccountEndpoints,
  ...auditEndpoints,
  ...environmentEndpoints,
  ...environmentEventEndpoints,
  ...snapshotReportEndpoints,
  ...snapshotEndpoints,
  ...silenceEndpoints,
  ...environmentExplanationEndpoints,
  ...searchEndpoints,
  ...assertEndpoints,
  ...spaceEndpoints,
  ...tagEndpoints,
  ...flowEndpoints,
  ...trailEndpoints,
  ...artifactEndpoints,
  ...explanationEndpoints,
  ...buildEndpoints,
  ...deploymentEndpoints,
  ...repoEndpoints,
  ...liveArtifactEndpoints,
  ...attestationEndpoints,
  ...attestationTypeEndpoints,
  ...controlEndpoints,
  ...policyEndpoints,
  ...policyPreviewEndpoints,
  ...allowlistEndpoints,
  ...actionEndpoints,
  ...notificationEndpoints,
  ...qualityEndpoints,
  ...systemEndpoints,
} satisfies Endpoints;
