import { showInput } from "../../contract/input-errors.ts";
import type { Tx } from "../../db/connect.ts";
import { violates } from "../../db/sqlstate.ts";
import type { EnvironmentType } from "../../domain/environments.ts";
import { AppError, forbidden, invalid, invalidInput } from "../../domain/errors.ts";
import { mayNotAttach } from "../../domain/policies.ts";
import type { OrgAccess } from "../../domain/principal.ts";
import { roleAllows } from "../../domain/roles.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { parseWireId } from "../../lib/ids.ts";
import { recorded, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { changeAttachments } from "../policies/attach-service.ts";
import { reevaluate } from "../snapshots/evaluate-service.ts";
import { getLiveEnvironment, lockLive, lockStructure, type Org } from "./find-service.ts";
import {
  type Difference,
  requireMembers,
  resolveMembers,
  setMembers,
  touchGroups,
} from "./member-service.ts";
import {
  deleteFormerName,
  type EnvironmentSettings,
  findEnvironmentNamed,
  updateEnvironmentSettings,
  upsertEnvironment,
} from "./store.ts";

interface OrgScope extends Scope {
  org: OrgAccess;
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

/** Inserts, updates or finds the environment an input names. */
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
 * Ids of the members that an input gives a logical environment, with the structure and them held; undefined to leave
 * what there is. Others have no members, whatever is said, but what is said has to name environments.
 */
async function membersOf(tx: Tx, org: Org, input: EnvironmentInput): Promise<string[] | undefined> {
  const { type, included_environments: names } = input;
  if (names === undefined || names === null) return undefined;
  if (type !== "logical") {
    await requireMembers(tx, org, names);
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
export async function putEnvironment(deps: Deps, scope: OrgScope, input: EnvironmentInput): Promise<void> {
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    const members = await membersOf(tx, org, input);
    const { id, created, changed } = await writeEnvironment(deps, tx, org, input);
    if (created) await deleteFormerName(tx, org.id, input.name);
    const at = deps.clock.now();
    const filled = await setContents(deps, tx, org, { id, members, policies: input.policies });
    if (changed && !created) await touchGroups(tx, org, id, at);
    if (changed || filled) record(auditType, input.name);
  });
}

function unknownSpace(given: string): AppError {
  return invalidInput({ space_id: `Space does not exist [input: ${showInput(given)}]` });
}

function spaceOf(given: string | null | undefined, present: string | null): string | null {
  if (given === undefined) return present;
  if (given === null) return null;
  const id = parseWireId(given);
  if (id === undefined) throw unknownSpace(given);
  return id;
}

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

/** Ids of the members that an environment is to have, with the structure and them held. */
async function membersFor(tx: Tx, org: Org, name: string, included: readonly string[]): Promise<string[]> {
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
  scope: OrgScope,
  name: string,
  change: EnvironmentChange,
): Promise<void> {
  const { org } = scope;
  const included = change.included_environments ?? undefined;
  await recorded(deps, scope, async (tx, record) => {
    const members = included === undefined ? undefined : await membersFor(tx, org, name, included);
    const environment = await lockLive(tx, org, name, "no key update");
    const at = deps.clock.now();
    const changed = await writeSettings(tx, org, environment, change, at);
    const filled = await setContents(deps, tx, org, {
      id: environment.id,
      members: environment.type === "logical" ? members : undefined,
      policies: change.policies,
    });
    if (changed) await touchGroups(tx, org, environment.id, at);
    if (changed || filled) record(auditType, environment.name);
  });
}
