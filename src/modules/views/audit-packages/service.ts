import type { ComplianceState } from "../../../domain/compliance/model.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { zip } from "../../../lib/zip.ts";
import type { Deps } from "../../kernel/deps.ts";
import { showing } from "../../process/attestations/attestation-sql.ts";
import { findAttestationOnTrail } from "../../process/attestations/read-service.ts";
import { judgeArtifacts } from "../../process/compliance/service.ts";
import type { EvidenceDownload } from "../../process/evidence/service.ts";
import { findFlowIdByName } from "../../process/flows/service.ts";
import { getTrail, type ReadTrail } from "../../process/trails/service.ts";
import { printTrail } from "../../process/trails/show.ts";
import { auditPackage, type PackageEntry } from "./archive-service.ts";
import {
  type ArtifactScope,
  type AttestationScope,
  findFingerprint,
  listPackagedArtifacts,
  listPackagedAttestations,
} from "./store.ts";

type Reading = Pick<Deps, "db" | "links">;

/** Puts a state first in an object's text. The rest stays as it is, numbers that a program would round included. */
function withState(json: string, state: ComplianceState): string {
  return json.replace("{", `{\n    "state": "${state}",`);
}

/** Reads reports of artifacts as parts of an audit package: `artifacts/<template name>/<id>.json`. */
async function* artifactEntries(
  { db, links }: Reading,
  org: Org,
  scope: ArtifactScope,
): AsyncGenerator<PackageEntry> {
  for await (const page of listPackagedArtifacts(db, org, showing(links), scope)) {
    const ids = page.map(({ id }) => id);
    const states = await judgeArtifacts(db, org.id, ids);
    for (const [row, state] of zip(page, states))
      yield {
        kind: "metadata",
        path: ["artifacts", row.template_reference_name, `${row.wire_id}.json`],
        json: withState(row.json, state),
      };
  }
}

/**
 * Reads attestations as parts of an audit package: `attestations/<name>/<id>.json`, and what came with them as
 * `evidence/<SHA-256>/<file name>`, once however many attestations it came with.
 */
async function* attestationEntries(
  { db, links }: Reading,
  org: Org,
  scope: AttestationScope,
): AsyncGenerator<PackageEntry> {
  const packed = new Set<string>();
  for await (const page of listPackagedAttestations(db, org, showing(links), scope))
    for (const { name, wire_id, json, file } of page) {
      yield { kind: "metadata", path: ["attestations", name, `${wire_id}.json`], json };
      if (file === null || packed.has(file.id)) continue;
      packed.add(file.id);
      yield { kind: "evidence", path: ["evidence", file.sha256, file.filename], file };
    }
}

/** Reads the reports of artifacts in this scope, then the attestations. */
async function* reportEntries(deps: Deps, org: Org, scope: ArtifactScope): AsyncGenerator<PackageEntry> {
  yield* artifactEntries(deps, org, scope);
  yield* attestationEntries(deps, org, scope);
}

async function* trailEntries(deps: Deps, org: Org, trail: ReadTrail): AsyncGenerator<PackageEntry> {
  yield { kind: "long metadata", path: ["trail.json"], json: () => printTrail(deps, org, trail) };
  yield* reportEntries(deps, org, { kind: "trail", trail_id: trail.row.id });
}

/**
 * Packs a trail: what reading it shows, and everything reported on it.
 * @throws AppError not_found.
 */
export async function trailPackage(
  deps: Deps,
  org: Org,
  names: { flow_name: string; trail_name: string },
): Promise<EvidenceDownload> {
  const trail = await getTrail(deps, org, names);
  return auditPackage(deps, `${names.flow_name}-${names.trail_name}`, trailEntries(deps, org, trail));
}

/**
 * Packs an artifact: its reports on all trails of the flow and everything attested of it there.
 * @param at `fingerprint` may be the beginning of one; of several artifacts the one reported last is meant.
 * @throws AppError not_found.
 */
export async function artifactPackage(
  deps: Deps,
  org: Org,
  at: { flow_name: string; fingerprint: string },
): Promise<EvidenceDownload> {
  const flow_id = await findFlowIdByName(deps.db, org.id, at.flow_name);
  const fingerprint = flow_id && (await findFingerprint(deps.db, org.id, { ...at, flow_id }));
  if (!flow_id || !fingerprint)
    throw notFound(
      `Artifact with fingerprint '${at.fingerprint}' does not exist in flow '${at.flow_name}' belonging to organization '${org.name}'`,
    );
  const entries = reportEntries(deps, org, { kind: "artifact", flow_id, fingerprint });
  return auditPackage(deps, `${at.flow_name}-${fingerprint}`, entries);
}

/**
 * Packs one attestation.
 * @throws AppError not_found.
 */
export async function attestationPackage(
  deps: Deps,
  org: Org,
  at: { flow_name: string; trail_name: string; attestation_id: string },
): Promise<EvidenceDownload> {
  const found = await findAttestationOnTrail(deps, org.id, at);
  if (found === undefined)
    throw notFound(
      `Attestation '${at.attestation_id}' does not exist on trail '${at.trail_name}' of flow '${at.flow_name}' belonging to organization '${org.name}'`,
    );
  const entries = attestationEntries(deps, org, { kind: "attestation", attestation_id: found.id });
  return auditPackage(deps, `${at.flow_name}-${at.trail_name}-${found.name}-${at.attestation_id}`, entries);
}
