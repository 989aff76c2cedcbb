import type { Executor, Tx } from "../../../db/connect.ts";
import { lockName } from "../../../db/lock.ts";
import { archivedEnvironment, unknownEnvironment } from "../../../domain/environments.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import {
  type EnvironmentRef,
  type EnvironmentSettings,
  findEnvironment,
  findEnvironments,
  lockEnvironment,
  lockEnvironments,
} from "./store.ts";

/**
 * Locks names and memberships of an organization's environments for the rest of the transaction: whoever renames, archives
 * or regroups waits here. To be called before any row is locked.
 */
export function lockStructure(tx: Tx, orgId: string): Promise<void> {
  return lockName(tx, `environments ${orgId}`);
}

/** What a name was found to mean, as far as it decides whether it may be used. */
type Found = Pick<EnvironmentRef, "archived" | "by_name">;

/**
 * Requires that a name was found to mean a live environment.
 * @throws AppError not_found, in the words for an unknown or for an archived one. An archived one counts even under
 * its archived name: that name is for reading.
 */
export function requireLive<Environment extends Pick<Found, "archived">>(
  org: Org,
  name: string,
  found: Environment | null | undefined,
): Environment {
  if (found === undefined || found === null) throw notFound(unknownEnvironment(name, org.name));
  if (found.archived) throw notFound(archivedEnvironment(name, org.name));
  return found;
}

/**
 * Requires that a name was found to mean an environment that may be read by it: a live one's present or former name, an
 * archived one's archived name.
 * @throws AppError not_found, in the words for an unknown or for an archived one (contract 2.5).
 */
export function requireReadable<Environment extends Found>(
  org: Org,
  name: string,
  found: Environment | null | undefined,
): Environment {
  return found?.archived === true && found.by_name ? found : requireLive(org, name, found);
}

/**
 * Finds the live environment of this present or former name.
 * @throws AppError not_found, worded for an unknown or an archived one (contract 2.5).
 */
export async function getLiveEnvironment(tx: Tx, org: Org, name: string): Promise<EnvironmentRef> {
  return requireLive(org, name, await findEnvironment(tx, org.id, name));
}

/**
 * Finds the environment that a name means, archived or not; by its original name the one that was archived last.
 * @throws AppError not_found.
 */
export async function getEnvironmentNamed(tx: Tx, org: Org, name: string): Promise<EnvironmentRef> {
  const found = await findEnvironment(tx, org.id, name);
  if (found === undefined) throw notFound(unknownEnvironment(name, org.name));
  return found;
}

/**
 * Finds the live environments of these present or former names, in their order.
 * @throws AppError not_found for a name that means none.
 */
export async function getLiveEnvironments(
  tx: Tx,
  org: Org,
  names: readonly string[],
): Promise<EnvironmentRef[]> {
  if (names.length === 0) return [];
  const found = await findEnvironments(tx, org.id, names);
  return names.map((name, index) => requireLive(org, name, found[index]));
}

/**
 * Finds the environment a name may be read by: a live one's present or former name, an archived one's archived name.
 * @throws AppError not_found, worded for an unknown or an archived one (contract 2.5).
 */
export async function getReadableEnvironment(db: Executor, org: Org, name: string): Promise<EnvironmentRef> {
  return requireReadable(org, name, await findEnvironment(db, org.id, name));
}

/**
 * Finds the environments that names may be read by, in their order.
 * @throws AppError not_found for the first name that may not.
 */
export async function getReadableEnvironments(
  db: Executor,
  org: Org,
  names: readonly string[],
): Promise<EnvironmentRef[]> {
  if (names.length === 0) return [];
  const found = await findEnvironments(db, org.id, names);
  return names.map((name, index) => requireReadable(org, name, found[index]));
}

/** Finds the ids of the environments that names may be read by; names that mean none are left out. */
export async function findReadableIds(
  db: Executor,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  const found = await findEnvironments(db, orgId, names);
  return found.flatMap((each) => (each !== undefined && (!each.archived || each.by_name) ? each.id : []));
}

/**
 * Locks the live environment of this name, so that nobody else changes it until the transaction ends.
 * @param strength `update` when its name is going to change.
 * @throws AppError not_found, worded for an unknown or an archived one.
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
 * Locks those of these environments that are live, and the logical ones around them, so that nobody else changes them until
 * the transaction ends. To be called before policies are locked.
 * @returns the live ones that were asked for.
 */
export function lockAll(tx: Tx, org: Org, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  return lockEnvironments(tx, org.id, ids);
}
