import { isDeepStrictEqual } from "node:util";

import type { Tx } from "../../../db/connect.ts";
import { type ActionType, parseActionNumber, type TargetSecret } from "../../../domain/actions.ts";
import { type AppError, invalid, notFound } from "../../../domain/errors.ts";
import type { Org, OrgScope } from "../../../domain/principal.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { deleteOutcomes, putOutcome, type TargetOutcome } from "./outcome-store.ts";
import {
  deleteAction,
  findAction,
  findNewestAction,
  insertAction,
  isAction,
  lockActions,
  type StoredAction,
  updateAction,
} from "./store.ts";
import { findSubjects, listSubjects, replaceSubjects } from "./subjects-store.ts";
import { type GivenTarget, openSecrets, openTarget, sealSecrets, targetSecrets } from "./targets.ts";

/** An action as a caller gives it. */
export interface ActionInput {
  type: ActionType;
  name: string;
  triggers: string[];
  targets: GivenTarget[];
  /** Names of the environments or flows it watches. */
  subjects: string[];
}

/** Makes the 404 for a number that no action has, whatever the text is. */
export function noSuchAction(number: string, org: string): AppError {
  return notFound(`Action '${number}' does not exist in organization '${org}'`);
}

/**
 * Reads the number of the action that a URL names.
 * @throws AppError not_found when there is none.
 */
export async function getActionNumber(deps: Pick<Deps, "db">, org: Org, text: string): Promise<number> {
  const number = parseActionNumber(text);
  if (number === undefined || !(await isAction(deps.db, org.id, number))) throw noSuchAction(text, org.name);
  return number;
}

const subjectWords: Record<ActionType, string> = { env: "Environment", flow: "Flow" };

/**
 * Lists the ids of what an action is to watch.
 * @param found the ids that were found for its names, in order.
 * @throws AppError invalid for names that mean nothing, or the same.
 */
function requireSubjects(
  scope: OrgScope,
  input: ActionInput,
  found: readonly (string | undefined)[],
): string[] {
  const ids = new Map<string, string>();
  for (const [index, name] of input.subjects.entries()) {
    const id = found[index];
    const word = subjectWords[input.type];
    if (id === undefined)
      throw invalid(`${word} named '${name}' does not exist for organization '${scope.org.name}'`);
    const other = ids.get(id);
    if (other !== undefined)
      throw invalid(`'${other}' and '${name}' are names of the same ${word.toLowerCase()}`);
    ids.set(id, name);
  }
  return [...ids.keys()];
}

/** An action with nothing left to look up. */
interface Definition {
  input: ActionInput;
  secrets: TargetSecret[];
  subjectIds: string[];
}

async function isSame(
  deps: Deps,
  tx: Tx,
  orgId: string,
  [stored, { input, secrets, subjectIds }]: [StoredAction, Definition],
): Promise<boolean> {
  return (
    stored.name === input.name &&
    isDeepStrictEqual(stored.triggers, input.triggers) &&
    isDeepStrictEqual(stored.targets, input.targets.map(openTarget)) &&
    isDeepStrictEqual(openSecrets(deps.secrets, stored.target_secrets), secrets) &&
    isDeepStrictEqual(await listSubjects(tx, orgId, input.type, stored.number), subjectIds)
  );
}

function valuesOf(deps: Deps, { input, secrets }: Definition) {
  return {
    name: input.name,
    triggers: input.triggers,
    targets: input.targets.map(openTarget),
    target_secrets: sealSecrets(deps.secrets, secrets),
  };
}

/**
 * Creates an action, also under a name that is taken, unless the newest one of that name and type is the very same:
 * a repeated request changes nothing.
 * @returns whether one was created.
 * @throws AppError invalid for unknown environments or flows and for webhook addresses that are not allowed.
 */
export function putAction(deps: Deps, scope: OrgScope, input: ActionInput): Promise<boolean> {
  const orgId = scope.org.id;
  const secrets = targetSecrets(input.targets, [], deps.config.allowPrivateTargets);
  return recorded(deps, scope, async (tx, record) => {
    const found = await findSubjects(tx, orgId, input.type, input.subjects);
    const definition = { input, secrets, subjectIds: requireSubjects(scope, input, found) };
    await lockActions(tx, orgId);
    const newest = await findNewestAction(tx, orgId, input.type, input.name);
    if (newest !== undefined && (await isSame(deps, tx, orgId, [newest, definition]))) return false;
    const number = await insertAction(
      tx,
      orgId,
      { ...valuesOf(deps, definition), type: input.type, created_by_name: scope.actor.name },
      deps.clock.now(),
    );
    await replaceSubjects(tx, orgId, { type: input.type, number }, definition.subjectIds);
    record("action", String(number));
    return true;
  });
}

/**
 * Replaces the action of this number and of the input's type. The same again changes nothing.
 * @throws AppError not_found for a number without such an action, invalid as `putAction`.
 */
export function replaceAction(
  deps: Deps,
  scope: OrgScope,
  number: number,
  input: ActionInput,
): Promise<void> {
  const orgId = scope.org.id;
  return recorded(deps, scope, async (tx, record) => {
    const found = await findSubjects(tx, orgId, input.type, input.subjects);
    await lockActions(tx, orgId);
    const stored = await findAction(tx, orgId, input.type, number);
    if (stored === undefined) throw noSuchAction(String(number), scope.org.name);
    const storedSecrets = openSecrets(deps.secrets, stored.target_secrets) ?? [];
    const known = stored.targets.map(({ type }, index) => ({ type, secret: storedSecrets[index] ?? null }));
    const secrets = targetSecrets(input.targets, known, deps.config.allowPrivateTargets);
    const definition = { input, secrets, subjectIds: requireSubjects(scope, input, found) };
    if (await isSame(deps, tx, orgId, [stored, definition])) return;
    await updateAction(tx, orgId, number, valuesOf(deps, definition), deps.clock.now());
    const before = { targets: stored.targets, secrets: storedSecrets };
    if (!isDeepStrictEqual(before, { targets: input.targets.map(openTarget), secrets }))
      await deleteOutcomes(tx, orgId, number);
    await replaceSubjects(tx, orgId, { type: input.type, number }, definition.subjectIds);
    record("action", String(number));
  });
}

/**
 * Deletes the action of this number. Not to be repeated: the second time there is none.
 * @param type only if it is of this type.
 * @throws AppError not_found for a number without such an action.
 */
export function removeAction(deps: Deps, scope: OrgScope, number: number, type?: ActionType): Promise<void> {
  return recorded(deps, scope, async (tx, record) => {
    await lockActions(tx, scope.org.id);
    if (!(await deleteAction(tx, scope.org.id, number, type)))
      throw noSuchAction(String(number), scope.org.name);
    record("action", String(number));
  });
}

/** Writes down, in the caller's transaction, how an attempt to reach a target of an action ended. Idempotent. */
export function recordOutcome(tx: Tx, orgId: string, outcome: TargetOutcome): Promise<void> {
  return putOutcome(tx, orgId, outcome);
}
