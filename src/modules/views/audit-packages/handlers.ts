import type { auditPackageEndpoints } from "../../../contract/audit-packages.ts";
import type { Handlers } from "../../kernel/call.ts";
import { trailPdf } from "./pdf-service.ts";
import { artifactPackage, attestationPackage, trailPackage } from "./service.ts";

export const auditPackageHandlers: Handlers<typeof auditPackageEndpoints> = {
  download_trail_audit_package: async (deps, { org, params }) => ({
    status: 200,
    ...(await trailPackage(deps, org, params)),
  }),
  download_trail_audit_pdf: async (deps, { org, actor, params }) => ({
    status: 200,
    ...(await trailPdf(deps, { org, actor }, params)),
  }),
  get_audit_package: async (deps, { org, params }) => ({
    status: 200,
    ...(await artifactPackage(deps, org, params)),
  }),
  download_attestation_audit_package: async (deps, { org, params }) => ({
    status: 200,
    ...(await attestationPackage(deps, org, params)),
  }),
};
