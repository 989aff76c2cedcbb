import type { Org } from "../../../../domain/principal.ts";
import {
  absoluteIndex,
  noSuchSnapshot,
  parseSnappish,
  parseSnapshotExpression,
  type Snappish,
} from "../../../../domain/snapshot/expressions.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { getReadableEnvironment } from "../../environments/service.ts";
import { countSnapshots, findSnapshotAt } from "./store.ts";

/** A snapshot that exists. */
export interface SnapshotRef {
  environment: { id: string; name: string; type: string };
  /** From 1. */
  index: number;
  /** How many the environment has. */
  count: number;
}

function indexed(index: number, count: number): Pick<SnapshotRef, "index" | "count"> {
  return { index: absoluteIndex(index, count), count };
}

async function resolve(
  deps: Pick<Deps, "db">,
  org: Org,
  environment: SnapshotRef["environment"],
  snappish: Snappish,
): Promise<SnapshotRef> {
  const { expression } = snappish;
  const { index, count } =
    expression.kind === "index"
      ? indexed(expression.index, await countSnapshots(deps.db, org.id, environment.id))
      : await findSnapshotAt(deps.db, org.id, environment.id, expression.timestamp);
  if (index < 1 || index > count) throw noSuchSnapshot(org.name, snappish, count);
  return { environment, index, count };
}

/**
 * Finds the snapshot an expression names in an environment, which may be asked for by a former name, and archived ones
 * by their archived name (contract 4.1).
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression.
 */
export async function resolveSnapshot(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  environment: string,
  text: string,
): Promise<SnapshotRef> {
  const found = await getReadableEnvironment(deps.db, org, environment);
  const expression = parseSnapshotExpression(text, deps.clock.now());
  return resolve(deps, org, found, { environment, expression });
}

/**
 * Finds the snapshot that a text with the environment's name names: `env`, `env#N`, `env~N`, `env@{…}` (contract 5).
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression.
 */
export async function resolveSnappish(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  text: string,
): Promise<SnapshotRef> {
  const snappish = parseSnappish(text, deps.clock.now());
  const found = await getReadableEnvironment(deps.db, org, snappish.environment);
  return resolve(deps, org, found, snappish);
}
