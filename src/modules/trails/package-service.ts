import { artifactEntries } from "../artifacts/package-service.ts";
import { attestationEntries } from "../attestations/package-service.ts";
import type { Deps } from "../deps.ts";
import { auditPackage, type PackageEntry } from "../evidence/package-service.ts";
import type { EvidenceDownload } from "../evidence/service.ts";
import { getTrail, type ReadTrail } from "./service.ts";
import { printTrail } from "./show.ts";

async function* packageEntries(
  deps: Deps,
  org: { id: string; name: string },
  trail: ReadTrail,
): AsyncGenerator<PackageEntry> {
  const scope = { kind: "trail", trail_id: trail.row.id } as const;
  yield { kind: "long metadata", path: ["trail.json"], json: () => printTrail(deps, org, trail) };
  yield* artifactEntries(deps, org, scope);
  yield* attestationEntries(deps, org, scope);
}

/**
 * The audit package of a trail: what reading it shows, and everything reported on it.
 * @throws AppError not_found.
 */
export async function trailPackage(
  deps: Deps,
  org: { id: string; name: string },
  names: { flow_name: string; trail_name: string },
): Promise<EvidenceDownload> {
  const trail = await getTrail(deps, org, names);
  return auditPackage(deps, `${names.flow_name}-${names.trail_name}`, packageEntries(deps, org, trail));
}
