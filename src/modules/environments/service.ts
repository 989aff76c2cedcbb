import type { Tx } from "../../db/connect.ts";
import { violates } from "../../db/sqlstate.ts";
import { invalid } from "../../domain/errors.ts";
import { archivedName } from "../../domain/names.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { forgetEnvironment } from "../actions/forget.ts";
import { recorded, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { reevaluate } from "../snapshots/evaluate-service.ts";
import { getLiveEnvironment, lockLive, lockStructure, type Org } from "./find-service.ts";
import { deleteMemberEverywhere, listMemberIds, touchLogical } from "./member-store.ts";
import { resolveMembers, setMembers, touchGroups } from "./member-service.ts";
import {
  deleteFormerName,
  insertFormerName,
  listTakenNames,
  updateEnvironmentArchived,
  updateEnvironmentName,
} from "./store.ts";

export { getLiveEnvironment, getReadableEnvironment } from "./find-service.ts";

interface OrgScope extends Scope {
  org: Org;
}

const auditType = "environment";

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
    await touchLogical(tx, org.id, groups, at);
    await reevaluate(deps, tx, org, { environmentIds: groups, cause: "members", isLess: true });
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
    const { type } = await getLiveEnvironment(tx, org, logicalName);
    const [physicalId] = await resolveMembers(tx, org, type, [physicalName]);
    const logical = await lockLive(tx, org, logicalName, "no key update");
    const present = await listMemberIds(tx, org.id, logical.id);
    const members = [...new Set([...present, physicalId!])];
    if ((await setMembers(deps, tx, org, { id: logical.id, members })) === "nothing") return;
    await reevaluate(deps, tx, org, { environmentIds: [logical.id], cause: "members" });
    record(auditType, logical.name);
  });
}
