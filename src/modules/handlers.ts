import type { endpoints } from "../contract/index.ts";
import { actionHandlers } from "./notices/actions/handlers.ts";
import { allowlistCsv, allowlistHandlers } from "./runtime/changes/allowlists/handlers.ts";
import { artifactHandlers } from "./process/artifacts/handlers.ts";
import { assertHandlers } from "./views/asserts/handlers.ts";
import { attestationTypeHandlers } from "./process/attestation-types/handlers.ts";
import { attestationHandlers } from "./process/attestations/handlers.ts";
import { auditPackageHandlers } from "./views/audit-packages/handlers.ts";
import { attestationSearchCsv } from "./process/attestations/search-handlers.ts";
import { auditCsv, auditHandlers, instanceAuditHandlers } from "./kernel/audit/handlers.ts";
import { backupHandlers } from "./maintenance/backups/handlers.ts";
import { buildHandlers } from "./process/builds/handlers.ts";
import { complianceHistoryHandlers } from "./views/compliance-history/handlers.ts";
import { controlHandlers } from "./process/controls/handlers.ts";
import { deploymentCsv, deploymentHandlers } from "./views/deployments/handlers.ts";
import { environmentChangeHandlers } from "./runtime/changes/environments/handlers.ts";
import { environmentReadHandlers } from "./runtime/environments/handlers.ts";
import { environmentExplanationHandlers } from "./views/environment-explanations/handlers.ts";
import { explanationHandlers } from "./views/explanations/handlers.ts";
import { flowHandlers } from "./process/flows/handlers.ts";
import { healthHandlers } from "./maintenance/health/handlers.ts";
import { invitationHandlers } from "./identity/invitations/handlers.ts";
import { liveArtifactHandlers } from "./views/live-artifacts/handlers.ts";
import { memberCsv, memberHandlers } from "./identity/members/handlers.ts";
import { notificationHandlers } from "./notices/notifications/handlers.ts";
import { organizationHandlers } from "./identity/organizations/handlers.ts";
import { overviewHandlers } from "./views/overview/handlers.ts";
import { provenanceHandlers } from "./views/provenance/handlers.ts";
import { policyHandlers } from "./runtime/changes/policies/handlers.ts";
import { policyPreviewHandlers } from "./runtime/changes/policies/preview-handlers.ts";
import { qualityGates, qualityHandlers } from "./notices/quality/handlers.ts";
import { repoHandlers } from "./process/repos/handlers.ts";
import { changeFeedHandlers } from "./views/change-feed/handlers.ts";
import { runningCsv, runningHandlers } from "./views/running/handlers.ts";
import { searchHandlers } from "./views/search/handlers.ts";
import { securityHandlers } from "./identity/security/handlers.ts";
import { serviceAccountHandlers } from "./identity/service-accounts/handlers.ts";
import { sessionHandlers } from "./identity/sessions/handlers.ts";
import { identityHandlers } from "./identity/sign-in-provider/handlers.ts";
import { silenceHandlers } from "./runtime/silence/handlers.ts";
import { eventCsv, snapshotHandlers } from "./runtime/snapshots/handlers.ts";
import { spaceHandlers } from "./identity/spaces/handlers.ts";
import { systemHandlers } from "./views/system/handlers.ts";
import { tagHandlers } from "./runtime/tags/handlers.ts";
import { trailCsv, trailHandlers } from "./process/trails/handlers.ts";
import { userHandlers } from "./identity/users/handlers.ts";
import type { CsvHandlers, Gates, Handlers } from "./kernel/call.ts";

/** What answers each operation of the contract. */
export const handlers: Handlers<typeof endpoints> = {
  ...organizationHandlers,
  ...userHandlers,
  ...sessionHandlers,
  ...identityHandlers,
  ...memberHandlers,
  ...invitationHandlers,
  ...serviceAccountHandlers,
  ...auditHandlers,
  ...instanceAuditHandlers,
  ...securityHandlers,
  ...environmentReadHandlers,
  ...environmentChangeHandlers,
  ...snapshotHandlers,
  ...silenceHandlers,
  ...complianceHistoryHandlers,
  ...environmentExplanationHandlers,
  ...overviewHandlers,
  ...searchHandlers,
  ...changeFeedHandlers,
  ...assertHandlers,
  ...spaceHandlers,
  ...tagHandlers,
  ...flowHandlers,
  ...trailHandlers,
  ...artifactHandlers,
  ...auditPackageHandlers,
  ...explanationHandlers,
  ...provenanceHandlers,
  ...buildHandlers,
  ...deploymentHandlers,
  ...repoHandlers,
  ...liveArtifactHandlers,
  ...runningHandlers,
  ...attestationHandlers,
  ...attestationTypeHandlers,
  ...controlHandlers,
  ...policyHandlers,
  ...policyPreviewHandlers,
  ...allowlistHandlers,
  ...actionHandlers,
  ...notificationHandlers,
  ...qualityHandlers,
  ...backupHandlers,
  ...systemHandlers,
  ...healthHandlers,
};

/** What looks at calls of signed endpoints before their bodies are read. */
export const gates: Gates<typeof endpoints> = qualityGates;

/** What finds the rows of lists that can be had as CSV. */
export const csvHandlers: CsvHandlers<typeof endpoints> = {
  ...auditCsv,
  ...memberCsv,
  ...eventCsv,
  ...runningCsv,
  ...allowlistCsv,
  ...trailCsv,
  ...deploymentCsv,
  ...attestationSearchCsv,
};
