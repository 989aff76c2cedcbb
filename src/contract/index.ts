import { actionEndpoints } from "./actions.ts";
import { artifactEndpoints } from "./artifacts.ts";
import { attestationTypeEndpoints } from "./attestation-types.ts";
import { attestationEndpoints } from "./attestations.ts";
import { auditEndpoints } from "./audit.ts";
import { buildEndpoints } from "./builds.ts";
import { controlEndpoints } from "./controls.ts";
import { environmentEventEndpoints } from "./environment-events.ts";
import { environmentEndpoints } from "./environments.ts";
import { flowEndpoints } from "./flows.ts";
import { memberEndpoints } from "./members.ts";
import { organizationEndpoints } from "./organizations.ts";
import { qualityEndpoints } from "./quality.ts";
import { repoEndpoints } from "./repos.ts";
import { serviceAccountEndpoints } from "./service-accounts.ts";
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
  ...spaceEndpoints,
  ...tagEndpoints,
  ...flowEndpoints,
  ...trailEndpoints,
  ...artifactEndpoints,
  ...buildEndpoints,
  ...repoEndpoints,
  ...attestationEndpoints,
  ...attestationTypeEndpoints,
  ...controlEndpoints,
  ...actionEndpoints,
  ...qualityEndpoints,
  ...systemEndpoints,
} satisfies Endpoints;
