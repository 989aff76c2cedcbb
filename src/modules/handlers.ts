import type { endpoints } from "../contract/index.ts";
import { actionHandlers } from "./actions/handlers.ts";
import { allowlistHandlers } from "./allowlists/handlers.ts";
import { artifactHandlers } from "./artifacts/handlers.ts";
import { assertHandlers } from "./asserts/handlers.ts";
import { attestationTypeHandlers } from "./attestation-types/handlers.ts";
import { attestationHandlers } from "./attestations/handlers.ts";
import { auditHandlers } from "./audit/handlers.ts";
import { buildHandlers } from "./builds/handlers.ts";
import { controlHandlers } from "./controls/handlers.ts";
import { deploymentHandlers } from "./deployments/handlers.ts";
import { environmentHandlers } from "./environments/handlers.ts";
import { environmentExplanationHandlers } from "./environment-explanations/handlers.ts";
import { explanationHandlers } from "./explanations/handlers.ts";
import { flowHandlers } from "./flows/handlers.ts";
import { liveArtifactHandlers } from "./live-artifacts/handlers.ts";
import { memberHandlers } from "./members/handlers.ts";
import { notificationHandlers } from "./notifications/handlers.ts";
import { organizationHandlers } from "./organizations/handlers.ts";
import { policyHandlers } from "./policies/handlers.ts";
import { policyPreviewHandlers } from "./policies/preview-handlers.ts";
import { qualityGates, qualityHandlers } from "./quality/handlers.ts";
import { repoHandlers } from "./repos/handlers.ts";
import { searchHandlers } from "./search/handlers.ts";
import { serviceAccountHandlers } from "./service-accounts/handlers.ts";
import { silenceHandlers } from "./silence/handlers.ts";
import { snapshotHandlers } from "./snapshots/handlers.ts";
import { spaceHandlers } from "./spaces/handlers.ts";
import { systemHandlers } from "./system/handlers.ts";
import { tagHandlers } from "./tags/handlers.ts";
import { trailHandlers } from "./trails/handlers.ts";
import { userHandlers } from "./users/handlers.ts";
import type { Gates, Handlers } from "./call.ts";

/** What answers each operation of the contract. */
export const handlers: Handlers<typeof endpoints> = {
  ...organizationHandlers,
  ...userHandlers,
  ...memberHandlers,
  ...serviceAccountHandlers,
  ...auditHandlers,
  ...environmentHandlers,
  ...snapshotHandlers,
  ...silenceHandlers,
  ...environmentExplanationHandlers,
  ...searchHandlers,
  ...assertHandlers,
  ...spaceHandlers,
  ...tagHandlers,
  ...flowHandlers,
  ...trailHandlers,
  ...artifactHandlers,
  ...explanationHandlers,
  ...buildHandlers,
  ...deploymentHandlers,
  ...repoHandlers,
  ...liveArtifactHandlers,
  ...attestationHandlers,
  ...attestationTypeHandlers,
  ...controlHandlers,
  ...policyHandlers,
  ...policyPreviewHandlers,
  ...allowlistHandlers,
  ...actionHandlers,
  ...notificationHandlers,
  ...qualityHandlers,
  ...systemHandlers,
};

/** What looks at calls of signed endpoints before their bodies are read. */
export const gates: Gates<typeof endpoints> = qualityGates;
