import type { Tx } from "../../db/connect.ts";
import { lockName } from "../../db/lock.ts";
import { violates } from "../../db/sqlstate.ts";
import {
  archivedEnvironment,
  type EnvironmentType,
  membershipProblem,
  onlyPhysicalInLogical,
} from "../../domain/environments.ts";
import { AppError, invalid, notFound } from "../../domain/errors.ts";
import { archivedName } from "../../domain/names.ts";
import { unknownSpace } from "../../domain/spaces.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { parseWireId } from "../../lib/ids.ts";
import { forgetEnvironment } from "../actions/forget.ts";
import { recorded, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { deleteMemberEverywhere, listMemberIds, refreshLogical } from "./member-store.ts";
import { requireLive, resolveMembers, setMembers, touchGroups } from "./member-service.ts";
import {
  deleteFormerName,
  type EnvironmentRef,
  type EnvironmentSettings,
  findEnvironment,
  findEnvironmentNamed,
  insertFormerName,
  listTakenNames,
  lockEnvironment,
  updateEnvironmentArchived,
  updateEnvironmentName,
  updateEnvironmentSettings,
  upsertEnvironment,
} from "./store.ts";

interface OrgScope extends Scope {
  org: { id: string; name: string };
}

export interface EnvironmentInput {
  name: string;
  type: EnvironmentType;
  description: string;
  included_environments?: string[] | null | undefined;
  policies?: string[] | null | undefined;
}

export interface EnvironmentChange {
  description?: string | null | undefined;
  included_environments?: string[] | null | undefined;
  policies?: string[] | null | undefined;
  /** Wire id; null is the root. */
  space_id?: string | null | undefined;
}

const auditType = "environment";

/**
 * Makes names and memberships of an organization's environments stand still for the rest of the transaction: whoever
 * renames, archives or regroups waits here. Before any row is locked.
 */
function lockStructure(tx: Tx, orgId: string): Promise<void> {
  return lockName(tx, `environments ${orgId}`);
}

/**
 * The live environment of this present or former name.
 * @throws AppError not_found, worded for an unknown or an archived one (contract 2.5).
 */
export async function getLiveEnvironment(
  tx: Tx,
  org: { id: string; name: string },
  name: string,
): Promise<EnvironmentRef> {
  return requireLive(org, name, await findEnvironment(tx, org.id, name));
}

/**
 * The environment a name may be read by: a live one's present or former name, an archived one's archived name.
 * @throws AppError not_found, worded for an unknown or an archived one (contract 2.5).
 */
export async function getReadableEnvironment(
  tx: Tx,
  org: { id: string; name: string },
  name: string,
): Promise<EnvironmentRef> {
  const found = await findEnvironment(tx, org.id, name);
  return found?.archived === true && found.by_name ? found : requireLive(org, name, found);
}

async function lockLive(
  tx: Tx,
  org: { id: string; name: string },
  name: string,
  strength: "no key update" | "update",
): Promise<EnvironmentSettings> {
  const { id } = await getLiveEnvironment(tx, org, name);
  const locked = await lockEnvironment(tx, org.id, id, strength);
  // Somebody may have archived it while we waited for the lock.
  if (locked === undefined || locked.archived) throw notFound(archivedEnvironment(name, org.name));
  return locked;
}

/** There are no policies to attach yet, so any name is one that does not exist. */
function requireNoPolicies(org: { name: string }, names: readonly string[] | null | undefined): void {
  const [first] = names ?? [];
  if (first !== undefined) throw notFound(`Policy '${first}' does not exist in organization '${org.name}'`);
}

interface Written {
  id: string;
  created: boolean;
  changed: boolean;
}

/** Inserts, updates or finds the environment an input names. */
async function writeEnvironment(
  deps: Deps,
  tx: Tx,
  org: { id: string; name: string },
  input: EnvironmentInput,
): Promise<Written> {
  const { name, type, description } = input;
  const at = deps.clock.now();
  const written = await upsertEnvironment(tx, org.id, { id: deps.ids.next(), name, type, description, at });
  if (written !== undefined) return { ...written, changed: true };
  const present = await findEnvironmentNamed(tx, org.id, name);
  // Renamed or archived between the two statements: the name is free again.
  if (present === undefined)
    throw new AppError("conflict", `Environment '${name}' is being renamed, try again`);
  if (present.archived) throw invalid(`Name '${name}' belongs to an archived environment`);
  if (present.type !== type)
    throw invalid(`Environment '${name}' is of type '${present.type}' and cannot become '${type}'`);
  return { id: present.id, created: false, changed: false };
}

/**
 * Creates an environment or updates the live one of that name (contract 2.2). An empty description and absent members
 * leave what there is. Repeating it changes nothing.
 * @throws AppError invalid for another type than it has or for members it cannot have, not_found for unknown members.
 */
export async function putEnvironment(deps: Deps, scope: OrgScope, input: EnvironmentInput): Promise<void> {
  const { org } = scope;
  const included = input.included_environments ?? undefined;
  if (included !== undefined && included.length > 0 && input.type !== "logical")
    throw invalid(onlyPhysicalInLogical);
  await recorded(deps, scope, async (tx, record) => {
    const grouping = included !== undefined && input.type === "logical";
    if (grouping) await lockStructure(tx, org.id);
    requireNoPolicies(org, input.policies);
    const members = grouping ? await resolveMembers(tx, org, input.type, included) : undefined;
    const { id, created, changed } = await writeEnvironment(deps, tx, org, input);
    if (created) await deleteFormerName(tx, org.id, input.name);
    const at = deps.clock.now();
    const regrouped = members !== undefined && (await setMembers(tx, org, { id, members }, at));
    if (changed && !created) await touchGroups(tx, org, id, at);
    if (changed || regrouped) record(auditType, input.name);
  });
}

function spaceOf(
  org: { name: string },
  given: string | null | undefined,
  present: string | null,
): string | null {
  if (given === undefined) return present;
  if (given === null) return null;
  const id = parseWireId(given);
  if (id === undefined) throw notFound(unknownSpace(given, org.name));
  return id;
}

async function writeSettings(
  tx: Tx,
  org: { id: string; name: string },
  environment: EnvironmentSettings,
  change: EnvironmentChange,
  at: Timestamp,
): Promise<boolean> {
  const description = change.description ?? environment.description;
  const space_id = spaceOf(org, change.space_id, environment.space_id);
  if (description === environment.description && space_id === environment.space_id) return false;
  try {
    await updateEnvironmentSettings(tx, org.id, { id: environment.id, description, space_id, at });
  } catch (error) {
    if (violates(error, "environments_space")) throw notFound(unknownSpace(change.space_id ?? "", org.name));
    throw error;
  }
  return true;
}

/**
 * Changes single settings; what is absent or null stays, but a null space is the root (contract 2.3, A1).
 * @throws AppError not_found for an unknown environment, member, policy or space, invalid for impossible members.
 */
export async function patchEnvironment(
  deps: Deps,
  scope: OrgScope,
  name: string,
  change: EnvironmentChange,
): Promise<void> {
  const { org } = scope;
  const included = change.included_environments ?? undefined;
  await recorded(deps, scope, async (tx, record) => {
    if (included !== undefined) await lockStructure(tx, org.id);
    const environment = await lockLive(tx, org, name, "no key update");
    requireNoPolicies(org, change.policies);
    const members =
      included === undefined ? undefined : await resolveMembers(tx, org, environment.type, included);
    const at = deps.clock.now();
    const changed = await writeSettings(tx, org, environment, change, at);
    const regrouped =
      members !== undefined &&
      environment.type === "logical" &&
      (await setMembers(tx, org, { id: environment.id, members }, at));
    if (changed) await touchGroups(tx, org, environment.id, at);
    if (changed || regrouped) record(auditType, environment.name);
  });
}

/**
 * Renames an environment. Its old name keeps leading to it until another takes it (contract 2.7).
 * @throws AppError invalid for a name that another environment has.
 */
export async function renameEnvironment(
  deps: Deps,
  scope: OrgScope,
  name: string,
  newName: string,
): Promise<void> {
  const { org } = scope;
  const taken = invalid(`Environment named '${newName}' already exists for organization '${org.name}'`);
  await recorded(deps, scope, async (tx, record) => {
    await lockStructure(tx, org.id);
    const environment = await lockLive(tx, org, name, "update");
    if (environment.name === newName) return;
    const at = deps.clock.now();
    try {
      await updateEnvironmentName(tx, org.id, { id: environment.id, name: newName, at });
    } catch (error) {
      if (violates(error, "environments_name")) throw taken;
      throw error;
    }
    await deleteFormerName(tx, org.id, newName);
    await insertFormerName(tx, org.id, environment);
    await touchGroups(tx, org, environment.id, at);
    record(auditType, newName);
  });
}

/** The name an archived environment gets; a later second when another took the name of this one. */
async function freeArchivedName(tx: Tx, orgId: string, name: string, at: Timestamp): Promise<string> {
  const batch = 100;
  for (let start = 0; ; start += batch) {
    const candidates = Array.from({ length: batch }, (_, index) => archivedName(name, at + start + index));
    const taken = new Set(await listTakenNames(tx, orgId, candidates));
    const free = candidates.find((candidate) => !taken.has(candidate));
    if (free !== undefined) return free;
  }
}

/**
 * Archives an environment: its records stay, its name is free again, it leaves logical environments and actions (S4).
 * Not idempotent: there is nothing left under the name, so the second time is not_found.
 */
export async function archiveEnvironment(deps: Deps, scope: OrgScope, name: string): Promise<void> {
  const { org, actor } = scope;
  await recorded(deps, scope, async (tx, record) => {
    await lockStructure(tx, org.id);
    const environment = await lockLive(tx, org, name, "update");
    const at = deps.clock.now();
    const archived_name = await freeArchivedName(tx, org.id, environment.name, at);
    await updateEnvironmentArchived(tx, org.id, { ...environment, archived_name, by: actor, at });
    const groups = await deleteMemberEverywhere(tx, org.id, environment.id);
    await refreshLogical(tx, org.id, groups, at);
    await forgetEnvironment(tx, org.id, environment.id);
    record(auditType, environment.name);
  });
}

/**
 * Adds a physical environment at the end of a logical one's members. Adding one that is there changes nothing
 * (contract 2.8).
 * @throws AppError not_found for either name, invalid unless the first is logical and the second is not.
 */
export async function joinEnvironment(
  deps: Deps,
  scope: OrgScope,
  logicalName: string,
  physicalName: string,
): Promise<void> {
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    await lockStructure(tx, org.id);
    const logical = await lockLive(tx, org, logicalName, "no key update");
    const physical = await getLiveEnvironment(tx, org, physicalName);
    const problem = membershipProblem(logical.type, [physical]);
    if (problem !== undefined) throw invalid(problem);
    const present = await listMemberIds(tx, org.id, logical.id);
    const members = [...new Set([...present, physical.id])];
    if (await setMembers(tx, org, { id: logical.id, members }, deps.clock.now()))
      record(auditType, logical.name);
  });
}
