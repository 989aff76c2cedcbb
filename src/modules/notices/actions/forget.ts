import type { Tx } from "../../../db/connect.ts";
import type { ActionType } from "../../../domain/actions.ts";
import type { Recorder } from "../../kernel/audit/service.ts";
import { lockActions } from "./store.ts";
import { deleteSubject, isWatched } from "./subjects-store.ts";

/** A subject that is being archived. The caller has archived it before, so nobody can make a new action for it. */
interface Archived {
  type: ActionType;
  id: string;
}

/** Takes a subject out of every action, and records each of them. */
async function forgetSubject(tx: Tx, orgId: string, { type, id }: Archived, record: Recorder): Promise<void> {
  if (!(await isWatched(tx, orgId, type, id))) return;
  await lockActions(tx, orgId);
  for (const number of await deleteSubject(tx, orgId, type, id)) record("action", String(number));
}

/**
 * Takes an environment that is being archived out of every action, and deletes the actions that watched nothing else. Records
 * each of them. Call it after the archiving has been written.
 */
export function forgetEnvironment(
  tx: Tx,
  orgId: string,
  environmentId: string,
  record: Recorder,
): Promise<void> {
  return forgetSubject(tx, orgId, { type: "env", id: environmentId }, record);
}

/**
 * Takes a flow that is being archived out of every action, and deletes the actions that watched nothing else. Records each of
 * them. Call it after the archiving has been written.
 */
export function forgetFlow(tx: Tx, orgId: string, flowId: string, record: Recorder): Promise<void> {
  return forgetSubject(tx, orgId, { type: "flow", id: flowId }, record);
}
