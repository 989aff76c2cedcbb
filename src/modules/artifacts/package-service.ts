import type { ComplianceState } from "../../domain/compliance/model.ts";
import { notFound } from "../../domain/errors.ts";
import { attestationEntries } from "../attestations/package-service.ts";
import { judgeArtifacts } from "../compliance/service.ts";
import type { Deps } from "../deps.ts";
import { auditPackage, type PackageEntry } from "../evidence/package-service.ts";
import type { EvidenceDownload } from "../evidence/service.ts";
import { findFlowIdByName } from "../flows/service.ts";
import { type ArtifactScope, findFingerprint, listPackagedArtifacts } from "./package-store.ts";

/** An object's text with a state first. The rest stays as it is, numbers that a program would round included. */
function withState(json: string, state: ComplianceState): string {
  return json.replace("{", `{\n    "state": "${state}",`);
}

/** Reports of artifacts as parts of an audit package: `artifacts/<template name>/<id>.json`. */
export async function* artifactEntries(
  deps: Pick<Deps, "db" | "links">,
  org: { id: string; name: string },
  scope: ArtifactScope,
): AsyncGenerator<PackageEntry> {
  for await (const page of listPackagedArtifacts(deps.db, org, deps.links.web(""), scope)) {
    const ids = page.map(({ id }) => id);
    const states = await judgeArtifacts(deps.db.query, org.id, ids);
    for (const [index, row] of page.entries())
      yield {
        kind: "metadata",
        path: ["artifacts", row.template_reference_name, `${row.wire_id}.json`],
        json: withState(row.json, states[index]!),
      };
  }
}

async function* packageEntries(
  deps: Deps,
  org: { id: string; name: string },
  scope: Extract<ArtifactScope, { kind: "artifact" }>,
): AsyncGenerator<PackageEntry> {
  yield* artifactEntries(deps, org, scope);
  yield* attestationEntries(deps, org, scope);
}

/**
 * The audit package of an artifact: its reports on all trails of the flow and everything attested of it there.
 * @param at `fingerprint` may be the beginning of one; of several artifacts the one reported last is meant.
 * @throws AppError not_found.
 */
export async function artifactPackage(
  deps: Deps,
  org: { id: string; name: string },
  at: { flow_name: string; fingerprint: string },
): Promise<EvidenceDownload> {
  const flow_id = await findFlowIdByName(deps.db.query, org.id, at.flow_name);
  const fingerprint = flow_id && (await findFingerprint(deps.db, org.id, { ...at, flow_id }));
  if (!flow_id || !fingerprint)
    throw notFound(
      `Artifact with fingerprint '${at.fingerprint}' does not exist in flow '${at.flow_name}' belonging to organization '${org.name}'`,
    );
  const entries = packageEntries(deps, org, { kind: "artifact", flow_id, fingerprint });
  return auditPackage(deps, `${at.flow_name}-${fingerprint}`, entries);
}
