import { showInput } from "../../../contract/input-errors.ts";
import type { Tx } from "../../../db/connect.ts";
import { lockName } from "../../../db/lock.ts";
import { sqlState, sqlStateOf, violates } from "../../../db/sqlstate.ts";
import { type AppError, invalid, invalidInput, notFound } from "../../../domain/errors.ts";
import type { OrgScope } from "../../../domain/principal.ts";
import { unknownSpace, wouldFormCycle } from "../../../domain/spaces.ts";
import { parseWireId, wireId } from "../../../lib/ids.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import {
  deleteSpace,
  isOccupied,
  insertSpace,
  listSpaces,
  type SpaceRow,
  updateArchivedToRoot,
  updateSpace,
} from "./store.ts";

export interface SpaceInput {
  name: string;
  /** Wire id; null or absent is the root. */
  parent_id?: string | null | undefined;
}

export interface SpaceChange {
  name?: string | undefined;
  /** Wire id; null is the root. */
  parent_id?: string | null | undefined;
}

const auditType = "space";

/** Lists all spaces, which nobody else changes until the transaction ends. */
async function lockSpaces(tx: Tx, orgId: string): Promise<SpaceRow[]> {
  await lockName(tx, `spaces ${orgId}`);
  return listSpaces(tx, orgId);
}

function getSpace(org: { name: string }, spaces: readonly SpaceRow[], wire: string): SpaceRow {
  const id = parseWireId(wire);
  const space = spaces.find((candidate) => candidate.id === id);
  if (space === undefined) throw notFound(unknownSpace(wire, org.name));
  return space;
}

/** Finds the id of the space that a body names as parent. @throws AppError invalid. */
function getParentId(spaces: readonly SpaceRow[], wire: string): string {
  const id = parseWireId(wire);
  if (id === undefined || !spaces.some((space) => space.id === id))
    throw invalidInput({ parent_id: `Space does not exist [input: ${showInput(wire)}]` });
  return id;
}

function nameTaken(name: string): AppError {
  return invalid(`A space named '${name}' already exists in the same place`);
}

/** Waits for a write. @throws AppError invalid when a sibling has the name. */
async function unlessTaken(name: string, write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (violates(error, "spaces_name")) throw nameTaken(name);
    throw error;
  }
}

/** Creates a space. Not idempotent: the second time its name is taken, which is invalid. @returns the space. */
export async function createSpace(deps: Deps, scope: OrgScope, input: SpaceInput): Promise<SpaceRow> {
  const { org } = scope;
  return recorded(deps, scope, async (tx, record) => {
    const spaces = await lockSpaces(tx, org.id);
    const at = deps.clock.now();
    const space: SpaceRow = {
      id: deps.ids.next(),
      name: input.name,
      parent_id: typeof input.parent_id === "string" ? getParentId(spaces, input.parent_id) : null,
      created_at: at,
      last_modified_at: at,
    };
    await unlessTaken(space.name, insertSpace(tx, org.id, space));
    record(auditType, wireId(space.id));
    return space;
  });
}

function placeOf(
  spaces: readonly SpaceRow[],
  space: SpaceRow,
  given: string | null | undefined,
): string | null {
  if (given === undefined) return space.parent_id;
  if (given === null) return null;
  const parentId = getParentId(spaces, given);
  if (wouldFormCycle(spaces, space.id, parentId)) throw invalid("A space cannot be moved below itself");
  return parentId;
}

/** Renames or moves a space. @returns the space as it is now. */
export async function patchSpace(
  deps: Deps,
  scope: OrgScope,
  wire: string,
  change: SpaceChange,
): Promise<SpaceRow> {
  const { org } = scope;
  return recorded(deps, scope, async (tx, record) => {
    const spaces = await lockSpaces(tx, org.id);
    const space = getSpace(org, spaces, wire);
    const name = change.name ?? space.name;
    const parent_id = placeOf(spaces, space, change.parent_id);
    if (name === space.name && parent_id === space.parent_id) return space;
    const changed = { ...space, name, parent_id, last_modified_at: deps.clock.now() };
    await unlessTaken(name, updateSpace(tx, org.id, changed));
    record(auditType, wireId(space.id));
    return changed;
  });
}

/**
 * Deletes a space that has no spaces, live environments or live flows in it; archived ones move to the root. Not
 * idempotent: the second time it is not_found.
 */
export async function removeSpace(deps: Deps, scope: OrgScope, wire: string): Promise<void> {
  const { org } = scope;
  const occupied = invalid("Space is not empty");
  await recorded(deps, scope, async (tx, record) => {
    const space = getSpace(org, await lockSpaces(tx, org.id), wire);
    if (await isOccupied(tx, org.id, space.id)) throw occupied;
    await updateArchivedToRoot(tx, org.id, space.id);
    try {
      await deleteSpace(tx, org.id, space.id);
    } catch (error) {
      // Something moved in since we looked.
      if (sqlStateOf(error) === sqlState.foreignKeyViolation) throw occupied;
      throw error;
    }
    record(auditType, wireId(space.id));
  });
}
