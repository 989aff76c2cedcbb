import { organizationReader } from "./access.ts";
import { fingerprintParams, flowParams } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** The form of audit packages, for the descriptions of their endpoints. */
const packageForm =
  "A tar archive, built while it is sent: records as JSON, files as they were sent, and last `SHA256SUMS`, which `sha256sum -c` checks. It breaks off when a file is damaged: an archive without `SHA256SUMS` is not complete.";

const auditPackageResponse = {
  200: { description: "The archive", contentType: "application/x-tar" },
} as const;

export const auditPackageEndpoints = {
  download_trail_audit_package: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}/{trail_name}/audit_package",
    tag: "Trails",
    summary: "Download the audit package of a trail",
    description: `The trail, the artifacts and attestations reported on it, and the files that came with them. ${packageForm}`,
    access: organizationReader,
    responses: auditPackageResponse,
  }),
  download_trail_audit_pdf: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}/{trail_name}/audit_pdf",
    tag: "Trails",
    summary: "Download what was attested on a trail as a PDF",
    description:
      "For people: what the trail is about, its verdict, its artifacts and attestations with who reported them and the " +
      "digests of their files, overrides, and the events. Of a trail with more than 1,000 artifacts and attestations, or " +
      "1,000 events, it shows so many and says how many are left out; all of them are in the audit package. Characters " +
      "outside Western European scripts are shown by their code points: `[U+4E2D]`.",
    access: organizationReader,
    responses: { 200: { description: "The document", contentType: "application/pdf" } },
  }),
  get_audit_package: endpoint({
    method: "GET",
    path: "/artifacts/{org}/{flow_name}/{fingerprint}/audit_package",
    tag: "Artifacts",
    summary: "Download the audit package of an artifact",
    description: `Its reports on all trails of the flow, what was attested of it there, and the files that came with that. The beginning of a fingerprint is enough: the artifact reported last is meant. ${packageForm}`,
    access: organizationReader,
    params: flowParams.extend(fingerprintParams.shape),
    responses: auditPackageResponse,
  }),
  download_attestation_audit_package: endpoint({
    method: "GET",
    path: "/attestations/{org}/{flow_name}/trail/{trail_name}/attestation/{attestation_id}/audit_package",
    tag: "Attestation",
    summary: "Download the audit package of an attestation",
    description: `The attestation and the file that came with it. ${packageForm}`,
    access: organizationReader,
    responses: auditPackageResponse,
  }),
} satisfies Endpoints;
