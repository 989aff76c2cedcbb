import { parseWireId } from "../../src/lib/ids.ts";
import { recorded } from "../../src/modules/kernel/audit/service.ts";
import {
  type LoadedEnvironment,
  loadEnvironments,
} from "../../src/modules/runtime/environments/load-service.ts";
import { type BesideServer, learnTables } from "../database.ts";
import { type Environment, makeEnvironments } from "../model/environments.ts";
import { createRandom, type Random } from "../model/random.ts";
import type { Demo } from "../plan.ts";
import { loader } from "./history.ts";
import type { SpaceIds } from "./spaces.ts";

/** Environments written in one transaction. */
const batchSize = 5_000;

const day = 24 * 3600;

/** Makes up the past of an environment: created in the last year, and reported on lately, if at all. */
function aged(random: Random, now: number): Omit<LoadedEnvironment, keyof Environment | "space_id"> {
  const created_at = now - random.next() * 365 * day;
  if (random.chance(0.05))
    return {
      state: null,
      created_at,
      last_modified_at: created_at,
      last_reported_at: null,
      last_changed_at: null,
    };
  const last_changed_at = created_at + random.next() * (now - created_at);
  const last_reported_at = last_changed_at + random.next() * (now - last_changed_at);
  const state = random.chance(0.3) ? null : random.chance(0.9);
  return { state, created_at, last_modified_at: last_reported_at, last_reported_at, last_changed_at };
}

/** The environments made one by one, and the ids of spaces. */
interface Before {
  made: readonly Environment[];
  spaceIds: SpaceIds;
}

function* remaining(demo: Demo, { made, spaceIds }: Before): Generator<LoadedEnvironment> {
  const { amounts, seed, now } = demo;
  const random = createRandom(`${seed}/ages`);
  const names = new Set(made.map((environment) => environment.name));
  let left = amounts.environments - made.length;
  for (const environment of makeEnvironments(seed)) {
    if (left <= 0) return;
    if (names.has(environment.name)) continue;
    left -= 1;
    const { name, type, description, tags, space, members } = environment;
    const space_id = parseWireId(spaceIds.get(space ?? "") ?? "") ?? null;
    const ages = aged(random, now);
    const own = type === "logical" ? { ...ages, state: null, last_reported_at: null } : ages;
    yield { name, type, description, tags, members, space_id, ...own };
  }
}

function* inBatches<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Loads the environments that are too many to be made one by one, with the state that reports would have given them.
 * Not idempotent: the names are taken afterwards.
 */
export async function loadMoreEnvironments(demo: Demo, beside: BesideServer, before: Before): Promise<void> {
  const total = demo.amounts.environments - before.made.length;
  if (total <= 0) return;
  await demo.progress.step("More environments", total, async (advance) => {
    for (const batch of inBatches(remaining(demo, before), batchSize)) {
      await recorded(beside, { org: { id: beside.orgId }, actor: loader }, async (tx, record) => {
        await loadEnvironments(beside, tx, beside.orgId, batch);
        record("environment", `${batch.length} environments of the demo`);
      });
      advance(batch.length);
    }
    await learnTables(beside.db, ["environments", "environment_members"]);
  });
}
