import type { Executor, Tx } from "../../db/connect.ts";
import { lockName } from "../../db/lock.ts";
import { archivedEnvironment, unknownEnvironment } from "../../domain/environments.ts";
import { notFound } from "../../domain/errors.ts";
import {
  type EnvironmentRef,
  type EnvironmentSettings,
  findEnvironment,
  findEnvironments,
  lockEnvironment,
  lockEnvironments,
} from "./store.ts";

/** Whose environments, and what error texts call it. */
export interface Org {
  id: string;
  name: string;
}

/**
 * Makes names and memberships of an organization's environments stand still for the rest of the transaction: whoever
 * renames, archives or regroups waits here. Before any row is locked.
 */
export function lockStructure(tx: Tx, orgId: string): Promise<void> {
  return lockName(tx, `environments ${orgId}`);
}

/**
 * The live environment a name was found to mean.
 * @throws AppError not_found, in the words for an unknown or for an archived one. An archived one counts even under
 * its archived name: that name is for reading.
 */
export function requireLive(org: Org, name: string, found: EnvironmentRef | undefined): EnvironmentRef {
  if (found === undefined) throw notFound(unknownEnvironment(name, org.name));
  if (found.archived) throw notFound(archivedEnvironment(name, org.name));
  return found;
}

/**
 * The live environment of this present or former name.
 * @throws AppError not_found, worded for an unknown or an archived one (contract 2.5).
 */
export async function getLiveEnvironment(tx: Tx, org: Org, name: string): Promise<EnvironmentRef> {
  return requireLive(org, name, await findEnvironment(tx, org.id, name));
}

/**
 * The environment a name may be read by: a live one's present or former name, an archived one's archived name.
 * @throws AppError not_found, worded for an unknown or an archived one (contract 2.5).
 */
export async function getReadableEnvironment(db: Executor, org: Org, name: string): Promise<EnvironmentRef> {
  return requireReadable(org, name, await findEnvironment(db, org.id, name));
}

function requireReadable(org: Org, name: string, found: EnvironmentRef | undefined): EnvironmentRef {
  return found?.archived === true && found.by_name ? found : requireLive(org, name, found);
}

/** The same for several names, in their order. */
export async function getReadableEnvironments(
  db: Executor,
  org: Org,
  names: readonly string[],
): Promise<EnvironmentRef[]> {
  if (names.length === 0) return [];
  const found = await findEnvironments(db, org.id, names);
  return names.map((name, index) => requireReadable(org, name, found[index]));
}

/**
 * The live environment of this name, which nobody else changes until the transaction ends.
 * @param strength `update` when its name is going to change.
 */
export async function lockLive(
  tx: Tx,
  org: Org,
  name: string,
  strength: "no key update" | "update",
): Promise<EnvironmentSettings> {
  const { id } = await getLiveEnvironment(tx, org, name);
  const locked = await lockEnvironment(tx, org.id, id, strength);
  // Somebody may have archived it while we waited for the lock.
  if (locked === undefined || locked.archived) throw notFound(archivedEnvironment(name, org.name));
  return locked;
}

/**
 * Those of these environments that are live, by id; nobody else changes them, or the logical ones around them, until the
 * transaction ends. Before policies are locked.
 */
export function lockAll(tx: Tx, org: Org, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  return lockEnvironments(tx, org.id, ids);
}
