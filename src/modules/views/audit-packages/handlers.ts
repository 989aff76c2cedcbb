import type { Readable } from "node:stream";

import type { auditPackageEndpoints } from "../../../contract/audit-packages.ts";
import type { OrgScope } from "../../../domain/principal.ts";
import { withReadRecorded } from "../../kernel/audit/service.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { trailPdf } from "./pdf-service.ts";
import { artifactPackage, attestationPackage, trailPackage } from "./service.ts";

/** Answers with a package, of which it is recorded that it was read. @param of names that lead to what is packed. */
async function packed<Download extends { body: Readable }>(
  deps: Deps,
  { org, actor }: OrgScope,
  of: readonly string[],
  download: Download,
) {
  const read = { resource_type: "audit_package", resource: of.join("/") };
  return { status: 200, ...(await withReadRecorded(deps, { org, actor }, read, download)) } as const;
}

export const auditPackageHandlers: Handlers<typeof auditPackageEndpoints> = {
  download_trail_audit_package: async (deps, { org, actor, params }) =>
    packed(
      deps,
      { org, actor },
      [params.flow_name, params.trail_name],
      await trailPackage(deps, org, params),
    ),
  download_trail_audit_pdf: async (deps, { org, actor, params }) =>
    packed(
      deps,
      { org, actor },
      [params.flow_name, params.trail_name],
      await trailPdf(deps, { org, actor }, params),
    ),
  get_audit_package: async (deps, { org, actor, params }) =>
    packed(
      deps,
      { org, actor },
      [params.flow_name, params.fingerprint],
      await artifactPackage(deps, org, params),
    ),
  download_attestation_audit_package: async (deps, { org, actor, params }) =>
    packed(
      deps,
      { org, actor },
      [params.flow_name, params.trail_name, params.attestation_id],
      await attestationPackage(deps, org, params),
    ),
};
