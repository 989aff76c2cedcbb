import { showInput } from "../../../../contract/input-errors.ts";
import type { Tx } from "../../../../db/connect.ts";
import { violates } from "../../../../db/sqlstate.ts";
import type { EnvironmentType } from "../../../../domain/environments.ts";
import { AppError, collision, forbidden, invalid, invalidInput } from "../../../../domain/errors.ts";
import { archivedName } from "../../../../domain/names.ts";
import { mayNotAttach } from "../../../../domain/policies.ts";
import type { Org, OrgAccess, OrgScope } from "../../../../domain/principal.ts";
import { roleAllows } from "../../../../domain/roles.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { parseWireId } from "../../../../lib/ids.ts";
import { recorded } from "../../../kernel/audit/service.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { forgetEnvironment } from "../../../notices/actions/forget.ts";
import {
  getEnvironmentNamed,
  getLiveEnvironment,
  getLiveEnvironments,
  lockLive,
  lockStructure,
} from "../../environments/service.ts";
import type { EnvironmentSettings } from "../../environments/store.ts";
import { endSilenceOfArchived } from "../../silence/service.ts";
import { reevaluate } from "../../snapshots/report/evaluate-service.ts";
import { changeAttachments, lockAttachedPolicies } from "../policies/attachment-service.ts";
import { type Difference, markGroupsModified, resolveMembers, setMembers } from "./member-service.ts";
import { deleteMemberEverywhere, listMemberIds, lockMembers, updateLogicalModified } from "./member-store.ts";
import {
  deleteFormerName,
  findEnvironmentNamed,
  insertFormerName,
  listTakenNames,
  lockArchived,
  updateEnvironmentArchived,
  updateEnvironmentName,
  updateEnvironmentSettings,
  updateEnvironmentUnarchived,
  upsertEnvironment,
} from "./store.ts";

/** On whose behalf, and what the caller is in the organization: not all who report may change what is asked. */
interface CallerScope extends OrgScope {
  org: OrgAccess;
}

interface EnvironmentInput {
  name: string;
  type: EnvironmentType;
  description: string;
  included_environments?: string[] | null | undefined;
  policies?: string[] | null | undefined;
}

interface EnvironmentChange {
  description?: string | null | undefined;
  included_environments?: string[] | null | undefined;
  policies?: string[] | null | undefined;
  /** Wire id; null is the root. */
  space_id?: string | null | undefined;
}

const auditType = "environment";

/**
 * Attaches exactly these policies; null and undefined leave what there is.
 * @returns what that comes to: nothing, only less, or more.
 * @throws AppError forbidden for a caller who may report to environments but not change what is asked of them.
 */
async function setPolicies(
  deps: Deps,
  tx: Tx,
  org: OrgAccess,
  environment: { id: string; policies: readonly string[] | null | undefined },
): Promise<Difference> {
  const { id: environmentId, policies: names } = environment;
  if (names === null || names === undefined) return "nothing";
  const difference = await changeAttachments(deps, tx, org, { environmentId, names, kind: "set" });
  if (difference !== "nothing" && (org.role === undefined || !roleAllows(org.role, "member")))
    throw forbidden(mayNotAttach);
  return difference;
}

/** What a request gives an environment besides its settings; undefined stays. */
interface Contents {
  id: string;
  members: readonly string[] | undefined;
  policies: readonly string[] | null | undefined;
}

/**
 * Gives an environment members and policies, and judges what runs there again when either changed: once (R5).
 * @returns whether that changed anything.
 */
async function setContents(
  deps: Deps,
  tx: Tx,
  org: OrgAccess,
  { id, members, policies }: Contents,
): Promise<boolean> {
  const regrouped = members === undefined ? "nothing" : await setMembers(deps, tx, org, { id, members });
  const attached = await setPolicies(deps, tx, org, { id, policies });
  if (regrouped === "nothing" && attached === "nothing") return false;
  const cause = regrouped === "nothing" ? "policy" : "members";
  const isLess = regrouped !== "more" && attached !== "more";
  await reevaluate(deps, tx, org, { environmentIds: [id], cause, isLess });
  return true;
}

interface Written {
  id: string;
  created: boolean;
  changed: boolean;
}

/**
 * Inserts, updates or finds the environment an input names.
 * @throws AppError invalid for another type than it has, or a name of an archived one.
 */
async function writeEnvironment(deps: Deps, tx: Tx, org: Org, input: EnvironmentInput): Promise<Written> {
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
 * Finds the ids of the members that an input gives a logical environment, and locks the structure and them; undefined to
 * leave what there is. Others have no members, whatever is said, but what is said has to name environments.
 */
async function membersOfNew(tx: Tx, org: Org, input: EnvironmentInput): Promise<string[] | undefined> {
  const { type, included_environments: names } = input;
  if (names === undefined || names === null) return undefined;
  if (type !== "logical") {
    await getLiveEnvironments(tx, org, names);
    return undefined;
  }
  await lockStructure(tx, org.id);
  return resolveMembers(tx, org, type, names);
}

/**
 * Creates an environment or updates the live one of that name (contract 2.2). An empty description and absent members
 * leave what there is; members of a physical one have no effect. Repeating it changes nothing.
 * @throws AppError invalid for another type than it has or for members it cannot have, not_found for unknown members.
 */
export async function putEnvironment(deps: Deps, scope: CallerScope, input: EnvironmentInput): Promise<void> {
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    const members = await membersOfNew(tx, org, input);
    const { id, created, changed } = await writeEnvironment(deps, tx, org, input);
    if (created) await deleteFormerName(tx, org.id, input.name);
    const at = deps.clock.now();
    const filled = await setContents(deps, tx, org, { id, members, policies: input.policies });
    if (changed && !created) await markGroupsModified(tx, org, id, at);
    if (changed || filled) record(auditType, input.name);
  });
}

/** Makes the 400 for a space that does not exist. */
function unknownSpace(given: string): AppError {
  return invalidInput({ space_id: `Space does not exist [input: ${showInput(given)}]` });
}

/** Reads the id of the space that an environment is to be in. @throws AppError invalid for what is no id. */
function spaceOf(given: string | null | undefined, present: string | null): string | null {
  if (given === undefined) return present;
  if (given === null) return null;
  const id = parseWireId(given);
  if (id === undefined) throw unknownSpace(given);
  return id;
}

/** Writes description and space when they differ. @returns whether they did. */
async function writeSettings(
  tx: Tx,
  org: Org,
  environment: EnvironmentSettings,
  change: EnvironmentChange,
  at: Timestamp,
): Promise<boolean> {
  const description = change.description ?? environment.description;
  const space_id = spaceOf(change.space_id, environment.space_id);
  if (description === environment.description && space_id === environment.space_id) return false;
  try {
    await updateEnvironmentSettings(tx, org.id, { id: environment.id, description, space_id, at });
  } catch (error) {
    if (violates(error, "environments_space")) throw unknownSpace(change.space_id ?? "");
    throw error;
  }
  return true;
}

/** Finds the ids of the members that an environment is to have, and locks the structure and them. */
async function membersOfPresent(
  tx: Tx,
  org: Org,
  name: string,
  included: readonly string[],
): Promise<string[]> {
  await lockStructure(tx, org.id);
  const { type } = await getLiveEnvironment(tx, org, name);
  return resolveMembers(tx, org, type, included);
}

/**
 * Changes single settings; what is absent or null stays, but a null space is the root (contract 2.3, A1).
 * @throws AppError not_found for an unknown environment, member or policy, invalid for an unknown space or impossible
 * members.
 */
export async function patchEnvironment(
  deps: Deps,
  scope: CallerScope,
  name: string,
  change: EnvironmentChange,
): Promise<void> {
  const { org } = scope;
  const included = change.included_environments ?? undefined;
  await recorded(deps, scope, async (tx, record) => {
    const members = included === undefined ? undefined : await membersOfPresent(tx, org, name, included);
    const environment = await lockLive(tx, org, name, "no key update");
    const at = deps.clock.now();
    const changed = await writeSettings(tx, org, environment, change, at);
    const filled = await setContents(deps, tx, org, {
      id: environment.id,
      members: environment.type === "logical" ? members : undefined,
      policies: change.policies,
    });
    if (changed) await markGroupsModified(tx, org, environment.id, at);
    if (changed || filled) record(auditType, environment.name);
  });
}

function nameTaken(name: string, org: Org): AppError {
  return invalid(`Environment named '${name}' already exists for organization '${org.name}'`);
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
  const taken = nameTaken(newName, org);
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
    await markGroupsModified(tx, org, environment.id, at);
    record(auditType, newName);
  });
}

/** Finds the name an archived environment gets; that of a later second when another took the name of this one. */
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
    try {
      await updateEnvironmentArchived(tx, org.id, { ...environment, archived_name, by: actor, at });
    } catch (error) {
      // Somebody took the name between the look and the write.
      throw violates(error, "environments_name") ? collision(error) : error;
    }
    await endSilenceOfArchived(tx, org, { environment_id: environment.id, at });
    const groups = await deleteMemberEverywhere(tx, org.id, environment.id);
    const groupIds = groups.map(({ id }) => id);
    await updateLogicalModified(tx, org.id, groupIds, at);
    await reevaluate(deps, tx, org, { environmentIds: groupIds, cause: "members", isLess: true });
    record(auditType, environment.name);
    for (const group of groups) record(auditType, group.name);
    await forgetEnvironment(tx, org.id, environment.id, record);
  });
}

/**
 * Takes an environment out of the archive, under the name it had, and judges what runs there again, by the policies and
 * allow-lists of now. It is found by its archived name, which keeps leading to it, or by the one it had. One that is not
 * archived stays as it is, so that this may be repeated. Logical environments and actions stay without it.
 * @throws AppError not_found for a name that means none; invalid when another environment has its name.
 */
export async function unarchiveEnvironment(deps: Deps, scope: OrgScope, name: string): Promise<void> {
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    await lockStructure(tx, org.id);
    const found = await getEnvironmentNamed(tx, org, name);
    // Who reports to a member looks for live environments around it, and would not wait for this one.
    await lockMembers(tx, org.id, await listMemberIds(tx, org.id, found.id));
    const original = await lockArchived(tx, org.id, found.id);
    if (original === undefined) return;
    try {
      await updateEnvironmentUnarchived(tx, org.id, { id: found.id, at: deps.clock.now() });
    } catch (error) {
      throw violates(error, "environments_name") ? nameTaken(original, org) : error;
    }
    await deleteFormerName(tx, org.id, original);
    await insertFormerName(tx, org.id, found);
    await lockAttachedPolicies(tx, org, found.id);
    await reevaluate(deps, tx, org, { environmentIds: [found.id], cause: "policy", isLess: true });
    record(auditType, original);
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
    const { type } = await getLiveEnvironment(tx, org, logicalName);
    const added = await resolveMembers(tx, org, type, [physicalName]);
    const logical = await lockLive(tx, org, logicalName, "no key update");
    const present = await listMemberIds(tx, org.id, logical.id);
    const members = [...new Set([...present, ...added])];
    if ((await setMembers(deps, tx, org, { id: logical.id, members })) === "nothing") return;
    await reevaluate(deps, tx, org, { environmentIds: [logical.id], cause: "members" });
    record(auditType, logical.name);
  });
}
