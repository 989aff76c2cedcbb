import { JsonPieces } from "../../contract/endpoint.ts";
import { diffParts, DiffSide } from "../../domain/snapshot/diff.ts";
import { nextTurn } from "../../lib/turns.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";
import { resolveSnappish, type SnapshotRef } from "./find-service.ts";
import { listRunning } from "./read-store.ts";

async function readSide(
  deps: Pick<Deps, "db">,
  org: Org,
  { environment, index }: SnapshotRef,
): Promise<DiffSide> {
  const side = new DiffSide(`${environment.name}#${index}`);
  for await (const rows of listRunning(deps.db, org.id, { environment_id: environment.id, index })) {
    for (const row of rows) side.add(row);
    await nextTurn();
  }
  return side;
}

async function* diffPieces(before: DiffSide, after: DiffSide): AsyncGenerator<string> {
  let opening = "{";
  for (const [part, { artifacts, ...rest }] of diffParts(before, after)) {
    yield `${opening}${JSON.stringify(part)}:${JSON.stringify({ ...rest, artifacts: [] }).slice(0, -2)}`;
    for (const [at, artifact] of artifacts.entries()) yield (at === 0 ? "" : ",") + JSON.stringify(artifact);
    yield "]}";
    opening = ",";
    await nextTurn();
  }
  yield "}";
}

/**
 * Compares two snapshots, of one environment or of two, by expressions with the environments' names (contract 5). JSON text
 * made while it is sent.
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression; of the first one
 * before anything of the second.
 */
export async function compareSnapshots(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  { snappish1, snappish2 }: { snappish1: string; snappish2: string },
): Promise<JsonPieces> {
  const first = await resolveSnappish(deps, org, snappish1);
  const second = await resolveSnappish(deps, org, snappish2);
  const [before, after] = [await readSide(deps, org, first), await readSide(deps, org, second)];
  return new JsonPieces(diffPieces(before, after));
}
