import type { Tx } from "../../../db/connect.ts";
import type { ActionType } from "../../../domain/actions.ts";
import { lockActions } from "./store.ts";
import { deleteSubject, isWatched } from "./subjects-store.ts";

/** Takes a subject out of every action. The caller has archived it before, so nobody can make a new action for it. */
async function forgetSubject(tx: Tx, orgId: string, type: ActionType, subjectId: string): Promise<void> {
  if (!(await isWatched(tx, orgId, type, subjectId))) return;
  await lockActions(tx, orgId);
  await deleteSubject(tx, orgId, type, subjectId);
}

/**
 * Takes an environment that is being archived out of every action, and deletes the actions that watched nothing else.
 * Call it after the archiving has been written.
 */
export function forgetEnvironment(tx: Tx, orgId: string, environmentId: string): Promise<void> {
  return forgetSubject(tx, orgId, "env", environmentId);
}

/**
 * Takes a flow that is being archived out of every action, and deletes the actions that watched nothing else.
 * Call it after the archiving has been written.
 */
export function forgetFlow(tx: Tx, orgId: string, flowId: string): Promise<void> {
  return forgetSubject(tx, orgId, "flow", flowId);
}
