import { nextTurn } from "../../lib/turns.ts";
import { artifactEntries } from "../artifacts/package-service.ts";
import { attestationEntries } from "../attestations/package-service.ts";
import type { Deps } from "../deps.ts";
import { auditPackage, type PackageEntry } from "../evidence/package-service.ts";
import type { EvidenceDownload } from "../evidence/service.ts";
import { getTrail } from "./service.ts";
import { printTrail } from "./show.ts";

type ReadTrail = Awaited<ReturnType<typeof getTrail>>;

/** What reading a trail shows, in one: an archive tells the size of an entry before it. */
async function trailText(deps: Deps, org: { id: string; name: string }, trail: ReadTrail): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of printTrail(deps, org, trail)) {
    pieces.push(piece);
    if (pieces.length % 500 === 0) await nextTurn();
  }
  return pieces.join("");
}

async function* packageEntries(
  deps: Deps,
  org: { id: string; name: string },
  trail: ReadTrail,
): AsyncGenerator<PackageEntry> {
  const scope = { kind: "trail", trail_id: trail.row.id } as const;
  yield { kind: "metadata", path: ["trail.json"], json: await trailText(deps, org, trail) };
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
