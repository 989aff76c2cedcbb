import { notFound } from "../../domain/errors.ts";
import { parseWireId } from "../../lib/ids.ts";
import type { Deps } from "../deps.ts";
import { auditPackage, type PackageEntry } from "../evidence/package-service.ts";
import type { EvidenceDownload } from "../evidence/service.ts";
import { type AttestationScope, listPackagedAttestations } from "./package-store.ts";
import { findTrailAttestation } from "./read-store.ts";
import type { ReadScope } from "./attestation-json.ts";

/**
 * Attestations as parts of an audit package: `attestations/<name>/<id>.json`, and what came with them as
 * `evidence/<SHA-256>/<file name>`, once however many attestations it came with.
 */
export async function* attestationEntries(
  deps: Pick<Deps, "db" | "links">,
  org: ReadScope,
  scope: AttestationScope,
): AsyncGenerator<PackageEntry> {
  const urls = { api: deps.links.api(""), web: deps.links.web("") };
  const packed = new Set<string>();
  for await (const page of listPackagedAttestations(deps.db, org, urls, scope))
    for (const { name, wire_id, json, file } of page) {
      yield { kind: "metadata", path: ["attestations", name, `${wire_id}.json`], json };
      if (file === null || packed.has(file.id)) continue;
      packed.add(file.id);
      yield { kind: "evidence", path: ["evidence", file.sha256, file.filename], file };
    }
}

/**
 * The audit package of one attestation.
 * @throws AppError not_found.
 */
export async function attestationPackage(
  deps: Deps,
  org: ReadScope,
  at: { flow_name: string; trail_name: string; attestation_id: string },
): Promise<EvidenceDownload> {
  const attestation_id = parseWireId(at.attestation_id);
  const place = { flow: at.flow_name, trail: at.trail_name };
  const found = attestation_id && (await findTrailAttestation(deps.db, org.id, { ...place, attestation_id }));
  if (!found || !attestation_id)
    throw notFound(
      `Attestation '${at.attestation_id}' does not exist on trail '${at.trail_name}' of flow '${at.flow_name}' belonging to organization '${org.name}'`,
    );
  const entries = attestationEntries(deps, org, { kind: "attestation", attestation_id });
  return auditPackage(deps, `${at.flow_name}-${at.trail_name}-${found.name}-${at.attestation_id}`, entries);
}
