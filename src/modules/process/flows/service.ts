import { showInput } from "../../../contract/input-errors.ts";
import type { Executor, Tx } from "../../../db/connect.ts";
import { violates } from "../../../db/sqlstate.ts";
import { type AppError, collision, invalid, invalidInput, notFound } from "../../../domain/errors.ts";
import { archivedName } from "../../../domain/names.ts";
import type { Org, OrgScope } from "../../../domain/principal.ts";
import { emptyTemplateText } from "../../../domain/template/model.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { forgetFlow } from "../../notices/actions/forget.ts";
import { recorded, type Recorder } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { getShownFlow, type ShownFlowRow } from "./list-store.ts";
import {
  findFlowId,
  findFlowIdToUnarchive,
  listFlowIds,
  findFlowLocked,
  type FlowRow,
  getFlowLocked,
  getFlowHeld,
  insertFlow,
  isFlowNameTaken,
  updateFlow,
  updateFlowArchived,
  updateFlowName,
  updateFlowUnarchived,
} from "./store.ts";

/** What a caller says about a flow. */
export interface FlowInput {
  name: string;
  description: string;
  visibility: "public" | "private";
  /** Undefined: a new flow expects nothing, an existing one keeps what it has. */
  template: string | undefined;
  /** Empty: none; undefined and null: as it is. */
  repo_url?: string | null | undefined;
}

/** Makes the 404 of a name that means no flow. */
export function flowNotFound(name: string, org: { name: string }): AppError {
  return notFound(`Flow named '${name}' does not exist for organization '${org.name}'`);
}

/**
 * Finds the id of the flow with this name, or with this former name.
 * @throws AppError not_found.
 */
export async function getFlowId(db: Executor, org: Org, name: string): Promise<string> {
  const id = await findFlowId(db, org.id, name);
  if (id === undefined) throw flowNotFound(name, org);
  return id;
}

/** Finds the id of the flow with this name, or with this former name; undefined when there is none. */
export function findFlowIdByName(db: Executor, orgId: string, name: string): Promise<string | undefined> {
  return findFlowId(db, orgId, name);
}

/** Finds the ids of the flows that present or former names lead to. */
export function findFlowIds(db: Executor, orgId: string, names: readonly string[]): Promise<string[]> {
  return listFlowIds(db, orgId, names);
}

/**
 * Reads the flow with this name or former name, as it is shown.
 * @throws AppError not_found.
 */
export async function getFlow(deps: Pick<Deps, "db">, org: Org, name: string): Promise<ShownFlowRow> {
  return getShownFlow(deps.db, org.id, await getFlowId(deps.db, org, name));
}

/** Makes the 400 of a report to an archived flow. */
export function archivedFlow(name: string): AppError {
  return invalid(`Flow '${name}' is archived`);
}

/** Reads the URL of a flow's repo from what a caller says and what is stored; null for none. */
function repoOf({ repo_url }: FlowInput, present: string | null): string | null {
  return repo_url === undefined || repo_url === null ? present : repo_url || null;
}

/** Changes a flow to what a caller says. @returns whether that changed anything. */
async function updateFromInput(
  deps: Pick<Deps, "ids">,
  tx: Tx,
  orgId: string,
  change: { flow: FlowRow; input: FlowInput },
): Promise<boolean> {
  const { flow, input } = change;
  const template = input.template ?? flow.template;
  const sameTemplate = template === flow.template;
  const repo_url = repoOf(input, flow.repo_url);
  const same = input.description === flow.description && input.visibility === flow.visibility;
  if (sameTemplate && same && repo_url === flow.repo_url) return false;
  await updateFlow(tx, orgId, flow.id, {
    description: input.description,
    visibility: input.visibility,
    repo_url,
    ...(sameTemplate ? {} : { template, template_id: deps.ids.next() }),
  });
  return true;
}

/**
 * Creates a flow, or replaces description, visibility and, when one is given, the template of the one that has the name.
 * Of any number of simultaneous calls one creates. A repetition changes and records nothing.
 */
export function putFlow(
  deps: Pick<Deps, "db" | "clock" | "ids">,
  scope: OrgScope,
  input: FlowInput,
): Promise<"created" | "updated"> {
  return recorded(deps, scope, async (tx, record) => {
    if (await createFlow(deps, { tx, record, scope }, input)) return "created";
    const flow = await findFlowLocked(tx, scope.org.id, input.name);
    // Renamed or archived since it was in our way.
    if (flow === undefined) throw collision();
    if (flow.archived_at !== null) throw archivedFlow(input.name);
    if (await updateFromInput(deps, tx, scope.org.id, { flow, input })) record("flow", input.name);
    return "updated";
  });
}

/** A write under way. */
interface Writing {
  tx: Tx;
  record: Recorder;
  scope: OrgScope;
}

/** @returns whether the flow was created; not when its name is taken. */
async function createFlow(
  deps: Pick<Deps, "clock" | "ids">,
  { tx, record, scope }: Writing,
  input: FlowInput,
): Promise<boolean> {
  const inserted = await insertFlow(tx, scope.org.id, {
    id: deps.ids.next(),
    name: input.name,
    description: input.description,
    visibility: input.visibility,
    template: input.template ?? emptyTemplateText,
    template_id: deps.ids.next(),
    repo_url: repoOf(input, null),
    created_at: deps.clock.now(),
    created_by_name: scope.actor.name,
  });
  if (inserted) record("flow", input.name);
  return inserted;
}

/** What a trail takes from its flow. */
export type FlowForTrail = Pick<FlowRow, "id" | "name" | "template" | "template_id">;

/**
 * Reads and holds the flow a trail is reported to, by its name or a former one. A flow that does not exist is created and
 * expects nothing (contract flows 3.8).
 * @throws AppError invalid for an archived flow, conflict for one that is just being archived.
 */
export async function getFlowForTrail(
  deps: Pick<Deps, "clock" | "ids">,
  writing: Writing,
  name: string,
): Promise<FlowForTrail> {
  const { tx, scope } = writing;
  let id = await findFlowId(tx, scope.org.id, name);
  if (id === undefined) {
    await createFlow(deps, writing, { name, description: "", visibility: "private", template: undefined });
    id = await getFlowId(tx, scope.org, name);
  }
  const flow = await getFlowHeld(tx, scope.org.id, id);
  // Under another name it was archived while we waited for it, and the name is free.
  if (flow.archived_at !== null) throw flow.name === name ? archivedFlow(name) : collision();
  return flow;
}

function nameTaken(name: string, org: { name: string }): AppError {
  return invalid(`Flow named '${name}' already exists for organization '${org.name}'`);
}

/**
 * Gives a flow another name. Its old one keeps leading to it.
 * @throws AppError not_found; invalid when the name is taken.
 */
export async function renameFlow(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  names: { name: string; new_name: string },
): Promise<void> {
  const taken = (): AppError => nameTaken(names.new_name, scope.org);
  try {
    await recorded(deps, scope, async (tx, record) => {
      const flow = await getLiveFlowLocked(tx, scope, names.name);
      if (flow.name === names.new_name) return;
      if (await isFlowNameTaken(tx, scope.org.id, names.new_name)) throw taken();
      await updateFlowName(tx, scope.org.id, flow, names.new_name);
      record("flow", flow.name);
    });
  } catch (error) {
    // Somebody took the name between the look and the write.
    throw violates(error, "flows_name") ? taken() : error;
  }
}

/**
 * Reads and locks the flow of this name or former name.
 * @throws AppError not_found, also for an archived one.
 */
async function getLiveFlowLocked(tx: Tx, scope: OrgScope, name: string): Promise<FlowRow> {
  const flow = await getFlowLocked(tx, scope.org.id, await getFlowId(tx, scope.org, name));
  if (flow.archived_at !== null) throw flowNotFound(name, scope.org);
  return flow;
}

/**
 * Archives a flow under a name with the time in it, the first second from now on that is free, and takes it out of actions.
 * @throws AppError not_found.
 */
export async function archiveFlow(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  name: string,
): Promise<void> {
  try {
    await recorded(deps, scope, async (tx, record) => {
      const flow = await getLiveFlowLocked(tx, scope, name);
      const at = deps.clock.now();
      let second = Math.floor(at);
      // The same name may have been archived this very second, or be in use on its own.
      while (await isFlowNameTaken(tx, scope.org.id, archivedName(flow.name, second))) second += 1;
      await updateFlowArchived(tx, scope.org.id, flow, { name: archivedName(flow.name, second), at });
      record("flow", flow.name);
      await forgetFlow(tx, scope.org.id, flow.id, record);
    });
  } catch (error) {
    throw violates(error, "flows_name") ? collision(error) : error;
  }
}

/**
 * Takes a flow out of the archive, under the name it had. It is named by its archived name, or by the one it had, which
 * means the one archived last. A flow that is not archived stays as it is, so that this may be repeated. Actions that it was
 * taken out of stay without it.
 * @throws AppError not_found; invalid when another flow has the name.
 */
export async function unarchiveFlow(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  name: string,
): Promise<void> {
  const orgId = scope.org.id;
  let original = name;
  try {
    await recorded(deps, scope, async (tx, record) => {
      const id = await findFlowIdToUnarchive(tx, orgId, name);
      if (id === undefined) throw flowNotFound(name, scope.org);
      const flow = await getFlowLocked(tx, orgId, id);
      if (flow.original_name === null) return;
      original = flow.original_name;
      if (await isFlowNameTaken(tx, orgId, original)) throw nameTaken(original, scope.org);
      await updateFlowUnarchived(tx, orgId, flow, original);
      record("flow", original);
    });
  } catch (error) {
    // Somebody took the name between the look and the write.
    throw violates(error, "flows_name") ? nameTaken(original, scope.org) : error;
  }
}

function unknownSpace(spaceId: string): AppError {
  return invalidInput({ space_id: `Space does not exist [input: ${showInput(spaceId)}]` });
}

/**
 * Moves a flow into a space, given by its wire id, or to the root.
 * @throws AppError not_found; invalid for a space that does not exist.
 */
export async function moveFlow(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  move: { name: string; space_id: string | null },
): Promise<void> {
  const space_id = move.space_id === null ? null : parseWireId(move.space_id);
  if (space_id === undefined) throw unknownSpace(String(move.space_id));
  try {
    await recorded(deps, scope, async (tx, record) => {
      const flow = await getLiveFlowLocked(tx, scope, move.name);
      if (flow.space_id === space_id) return;
      await updateFlow(tx, scope.org.id, flow.id, { space_id });
      record("flow", flow.name);
    });
  } catch (error) {
    throw violates(error, "flows_org_id_space_id_fkey") ? unknownSpace(String(move.space_id)) : error;
  }
}
