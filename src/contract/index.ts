import { actionEndpoints } from "./actions.ts";
import { allowlistEndpoints } from "./allowlists.ts";
import { artifactEndpoints } from "./artifacts.ts";
import { assertEndpoints } from "./asserts.ts";
import { attestationTypeEndpoints } from "./attestation-types.ts";
import { attestationEndpoints } from "./attestations.ts";
import { auditPackageEndpoints } from "./audit-packages.ts";
import { auditEndpoints } from "./audit.ts";
import { backupEndpoints } from "./backups.ts";
import { buildEndpoints } from "./builds.ts";
import { changeFeedEndpoints } from "./change-feed.ts";
import { complianceHistoryEndpoints } from "./compliance-history.ts";
import { controlEndpoints } from "./controls.ts";
import { deploymentEndpoints } from "./deployments.ts";
import { environmentEventEndpoints } from "./environment-events.ts";
import { environmentEndpoints } from "./environments.ts";
import { environmentExplanationEndpoints } from "./environment-explanations.ts";
import { eventEndpoints } from "./events.ts";
import { explanationEndpoints } from "./explanations.ts";
import { flowStatisticsEndpoints } from "./flow-statistics.ts";
import { flowTemplateCheckEndpoints } from "./flow-template-checks.ts";
import { flowEndpoints } from "./flows.ts";
import { instanceAuditEndpoints } from "./instance-audit.ts";
import { healthEndpoints } from "./health.ts";
import { identityEndpoints } from "./identities.ts";
import { invitationEndpoints } from "./invitations.ts";
import { liveArtifactEndpoints } from "./live-artifacts.ts";
import { memberEndpoints } from "./members.ts";
import { notificationEndpoints } from "./notifications.ts";
import { organizationEndpoints } from "./organizations.ts";
import { overviewEndpoints } from "./overview.ts";
import { policyEndpoints } from "./policies.ts";
import { policyPreviewEndpoints } from "./policy-preview.ts";
import { qualityEndpoints } from "./quality.ts";
import { repoEndpoints } from "./repos.ts";
import { provenanceEndpoints } from "./provenance.ts";
import { runningEndpoints } from "./running.ts";
import { searchEndpoints } from "./search.ts";
import { securityEndpoints } from "./security.ts";
import { serviceAccountEndpoints } from "./service-accounts.ts";
import { sessionEndpoints } from "./sessions.ts";
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
  ...overviewEndpoints,
  ...userEndpoints,
  ...sessionEndpoints,
  ...identityEndpoints,
  ...memberEndpoints,
  ...invitationEndpoints,
  ...serviceAccountEndpoints,
  ...auditEndpoints,
  ...instanceAuditEndpoints,
  ...securityEndpoints,
  ...environmentEndpoints,
  ...environmentEventEndpoints,
  ...eventEndpoints,
  ...snapshotReportEndpoints,
  ...snapshotEndpoints,
  ...runningEndpoints,
  ...silenceEndpoints,
  ...complianceHistoryEndpoints,
  ...environmentExplanationEndpoints,
  ...provenanceEndpoints,
  ...searchEndpoints,
  ...assertEndpoints,
  ...spaceEndpoints,
  ...tagEndpoints,
  ...flowEndpoints,
  ...flowStatisticsEndpoints,
  ...flowTemplateCheckEndpoints,
  ...trailEndpoints,
  ...artifactEndpoints,
  ...auditPackageEndpoints,
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
  ...changeFeedEndpoints,
  ...backupEndpoints,
  ...systemEndpoints,
  ...healthEndpoints,
} satisfies Endpoints;
