import type { Executor } from "../../../db/connect.ts";
import {
  controlExists,
  type ControlStatus,
  parseControlVersion,
  unknownControl,
  unknownControlVersion,
  unknownDecision,
} from "../../../domain/controls.ts";
import { AppError, notFound } from "../../../domain/errors.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { recorded, type Scope } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type DecisionDetailRow, findDecision } from "./decision-store.ts";
import {
  type ControlChange,
  type ControlRow,
  type ControlVersionRow,
  findControl,
  findControlVersion,
  insertControl,
  listIdentifiers,
  updateControl,
} from "./store.ts";

interface Org {
  id: string;
  name: string;
}

interface OrgScope extends Scope {
  org: Org;
}

export interface ControlInput {
  identifier: string;
  name: string;
  description?: string | null | undefined;
  links?: Record<string, string> | null | undefined;
}

const auditType = "control";

/**
 * Creates a control. Not idempotent: repeated, its identifier is taken.
 * @throws AppError conflict when a control has the identifier, archived or not.
 */
export async function createControl(
  deps: Pick<Deps, "db" | "clock" | "ids">,
  scope: OrgScope,
  input: ControlInput,
): Promise<ControlRow> {
  const { org, actor } = scope;
  return recorded(deps, scope, async (tx, record) => {
    const created = await insertControl(
      tx,
      org.id,
      {
        id: deps.ids.next(),
        identifier: input.identifier,
        name: input.name,
        description: input.description ?? null,
        links: input.links ?? {},
      },
      { status: "Created", at: deps.clock.now(), by: actor.name },
    );
    if (created === undefined) throw new AppError("conflict", controlExists(input.identifier, org.name));
    record(auditType, created.identifier);
    return created;
  });
}

/** Reads the control of this identifier, archived or not. @throws AppError not_found. */
export async function getControl(db: Executor, org: Org, identifier: string): Promise<ControlRow> {
  const control = await findControl(db, org.id, identifier);
  if (control === undefined) throw notFound(unknownControl(identifier, org.name));
  return control;
}

/** Tells which of these identifiers controls of the organization have, archived or not. Controls are never deleted. */
export async function listKnownControls(
  db: Executor,
  orgId: string,
  identifiers: readonly string[],
): Promise<Set<string>> {
  return new Set(await listIdentifiers(db, orgId, identifiers));
}

/** Makes a new version of a control, unless it is like that already and the change does not ask for one (`anew`). */
async function changeControl(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  change: ControlChange & { identifier: string },
  status: ControlStatus,
): Promise<ControlRow> {
  const { org, actor } = scope;
  return recorded(deps, scope, async (tx, record) => {
    const authorship = { status, at: deps.clock.now(), by: actor.name };
    const changed = await updateControl(tx, org.id, change, authorship);
    if (changed === undefined) return getControl(tx, org, change.identifier);
    record(auditType, changed.identifier);
    return changed;
  });
}

/**
 * Edits a control, archived or not; what is absent or null stays. Not idempotent: every edit that says something makes
 * a version, as clients count on. One that says nothing changes nothing.
 * @returns the control as it is now.
 */
export function editControl(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  edit: Pick<ControlChange, "name" | "description" | "links"> & { identifier: string },
): Promise<ControlRow> {
  const anew = [edit.name, edit.description, edit.links].some((value) => (value ?? null) !== null);
  return changeControl(deps, scope, { ...edit, anew }, "Edited");
}

/** Archives a control, or brings it back. Repeating it changes nothing. @returns the control as it is now. */
export function setControlArchived(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  identifier: string,
  archived: boolean,
): Promise<ControlRow> {
  return changeControl(deps, scope, { identifier, archived }, archived ? "Archived" : "Unarchived");
}

/** Reads a control as it was at a version. @throws AppError not_found for an unknown control or version. */
export async function getControlVersion(
  db: Executor,
  org: Org,
  identifier: string,
  version: string,
): Promise<ControlVersionRow> {
  const number = parseControlVersion(version);
  const found = number === undefined ? undefined : await findControlVersion(db, org.id, identifier, number);
  if (found !== undefined) return found;
  await getControl(db, org, identifier);
  throw notFound(unknownControlVersion(version, identifier, org.name));
}

/** Reads a decision on a control, by the id of its attestation. @throws AppError not_found for an unknown control or id. */
export async function getDecision(
  db: Executor,
  org: Org,
  identifier: string,
  wire: string,
): Promise<DecisionDetailRow> {
  await getControl(db, org, identifier);
  const id = parseWireId(wire);
  const decision = id === undefined ? undefined : await findDecision(db, org.id, identifier, id);
  if (decision === undefined) throw notFound(unknownDecision(wire, identifier, org.name));
  return decision;
}
