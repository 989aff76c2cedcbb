import type { Executor, Tx } from "../../../db/connect.ts";
import { type AppError, invalid, notFound } from "../../../domain/errors.ts";
import type { Org, OrgScope } from "../../../domain/principal.ts";
import {
  type TaggedKind,
  taggedKind,
  taggedKindSpellings,
  tagLimits,
  type Tags,
} from "../../../domain/tags.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { getReadableEnvironment } from "../environments/service.ts";
import { getFlowId } from "../../process/flows/service.ts";
import { findControlId, isRepo, listTagChoices, updateTags } from "./store.ts";

/** A resource as its URL has it. */
export interface Target {
  resource_type: string;
  resource_id: string;
}

interface TagPatch {
  set_tags?: Tags | null | undefined;
  remove_tags?: string[] | null | undefined;
}

function kindOf({ resource_type }: Pick<Target, "resource_type">): TaggedKind {
  const kind = taggedKind(resource_type);
  if (kind === undefined)
    throw invalid(`Resource type '${resource_type}' is not one of: ${taggedKindSpellings.join(", ")}`);
  return kind;
}

/**
 * Reads which tags resources of a kind have, as JSON text of a list.
 * @param search the beginning of a key, or a whole key, a colon and the beginning of a value.
 * @throws AppError invalid for an unknown kind.
 */
export function readTagChoices(
  db: Executor,
  org: Org,
  target: Pick<Target, "resource_type">,
  search = "",
): Promise<{ tags: string; truncated: boolean }> {
  const kind = kindOf(target);
  const colon = search.indexOf(":");
  return colon === -1
    ? listTagChoices(db, org.id, kind, { keys: search, values: "" })
    : listTagChoices(db, org.id, kind, { key: search.slice(0, colon), values: search.slice(colon + 1) });
}

/** Makes the 404 for repos and controls, whose text comes in quotes of its own (contract-environments 10.2). */
function unknown(kind: "Repo" | "Control", id: string, org: Org): AppError {
  return notFound(`"${kind} '${id}' does not exist in organization '${org.name}'"`);
}

/** How the id of a resource is found, by its kind. Each throws AppError not_found. */
const findId: Record<TaggedKind, (tx: Tx, org: Org, resource: string) => Promise<string>> = {
  environment: async (tx, org, name) => (await getReadableEnvironment(tx, org, name)).id,
  flow: getFlowId,
  repo: async (tx, org, wire) => {
    const id = parseWireId(wire);
    if (id === undefined || !(await isRepo(tx, org.id, id))) throw unknown("Repo", wire, org);
    return id;
  },
  control: async (tx, org, identifier) => {
    const id = await findControlId(tx, org.id, identifier);
    if (id === undefined) throw unknown("Control", identifier, org);
    return id;
  },
};

/**
 * Removes and sets tags of one resource; a key in both ends up set. Repeating it changes nothing.
 * @throws AppError invalid for an unknown kind or too many tags, not_found for an unknown resource.
 */
export async function patchTags(deps: Deps, scope: OrgScope, target: Target, patch: TagPatch): Promise<void> {
  const kind = kindOf(target);
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    const id = await findId[kind](tx, org, target.resource_id);
    const change = { remove: patch.remove_tags ?? [], set: patch.set_tags ?? {}, at: deps.clock.now() };
    const tagged = await updateTags(tx, org.id, { kind, id }, change);
    if (tagged === undefined) return;
    if (tagged.count > tagLimits.tagsPerResource)
      throw invalid(`A resource can have at most ${tagLimits.tagsPerResource} tags`);
    // It may have been asked for by a former name, which would lead to another one some day.
    record(kind, tagged.name ?? target.resource_id);
  });
}
