import {
  anyOf,
  type Change,
  changesByAll,
  gatherChanges,
  mostNames,
  type Written,
} from "../../../domain/changes.ts";
import { parseWireId } from "../../../lib/ids.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listArtifactPlaces, listAttestationPlaces, listGroupNames, listWritten } from "./store.ts";

type Reading = Pick<Deps, "db">;

const trail = (flow: string, name: string): Change => ({
  topic: "trail",
  name: `${flow}/${name}`,
  index: null,
});

/** Finds what attestations are on. Of more than are listed there may be others elsewhere. */
async function byAttestations({ db }: Reading, orgId: string, ids: readonly string[]): Promise<Change[]> {
  if (ids.length === 0) return [];
  if (ids.length > mostNames) return [anyOf("trail"), anyOf("artifact")];
  const known = ids.map(parseWireId).filter((id) => id !== undefined);
  const places = await listAttestationPlaces(db, orgId, known);
  return places.flatMap(({ flow_name, trail_name, fingerprint }) => [
    trail(flow_name, trail_name),
    ...(fingerprint === null ? [] : [{ topic: "artifact", name: fingerprint, index: null } as const]),
  ]);
}

/** Finds the trails of artifacts that were reported. */
async function byArtifacts(
  { db }: Reading,
  orgId: string,
  fingerprints: readonly string[],
): Promise<Change[]> {
  if (fingerprints.length === 0) return [];
  if (fingerprints.length > mostNames) return [anyOf("trail")];
  const places = await listArtifactPlaces(db, orgId, fingerprints);
  return places.map(({ flow_name, trail_name }) => trail(flow_name, trail_name));
}

/** Finds the logical environments around those that changed. */
async function byMembers({ db }: Reading, orgId: string, changes: readonly Change[]): Promise<Change[]> {
  const names = changes.flatMap(({ topic, name }) =>
    topic === "environment" && name !== null ? [name] : [],
  );
  if (names.length === 0) return [];
  const groups = await listGroupNames(db, orgId, names);
  return groups.map((name) => ({ topic: "environment", name, index: null }));
}

/**
 * Reads what changed between two places of an organization's audit log: a statement for what was written, and at most one each
 * for attestations, artifacts and environments among it, of 50 rows.
 */
export async function readChanges(
  deps: Reading,
  orgId: string,
  window: { after: number; until: number },
): Promise<Change[]> {
  if (window.until <= window.after) return [];
  const written = await listWritten(deps.db, orgId, window);
  const named = (type: string): string[] =>
    written.filter(({ resource_type }: Written) => resource_type === type).map(({ resource }) => resource);
  const direct = changesByAll(written);
  const more = await Promise.all([
    byAttestations(deps, orgId, named("attestation")),
    byArtifacts(deps, orgId, named("artifact")),
    byMembers(deps, orgId, direct),
  ]);
  return gatherChanges([...direct, ...more.flat()]);
}
