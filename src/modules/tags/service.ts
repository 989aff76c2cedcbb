import type { Tx } from "../../db/connect.ts";
import { invalid, notFound } from "../../domain/errors.ts";
import { type TaggedKind, taggedKind, taggedKindSpellings, tagLimits, type Tags } from "../../domain/tags.ts";
import { parseWireId } from "../../lib/ids.ts";
import { recorded, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { getReadableEnvironment } from "../environments/service.ts";
import { getFlowId } from "../flows/service.ts";
import { findControl, findRepo, type TaggedTable, updateTags } from "./store.ts";

interface OrgScope extends Scope {
  org: { id: string; name: string };
}

/** A resource as its URL has it. */
export interface Target {
  resource_type: string;
  resource_id: string;
}

export interface TagPatch {
  set_tags?: Tags | null | undefined;
  remove_tags?: string[] | null | undefined;
}

interface Tagged {
  table: TaggedTable;
  id: string;
}

type Find = (tx: Tx, org: { id: string; name: string }, resource: string) => Promise<Tagged>;

/** The words for repos and controls come in quotes of their own (contract-environments 10.2). */
function quotedUnknown(kind: "Repo" | "Control", id: string, org: string): string {
  return `"${kind} '${id}' does not exist in organization '${org}'"`;
}

const find: Record<TaggedKind, Find> = {
  environment: async (tx, org, name) => ({
    table: "environment",
    id: (await getReadableEnvironment(tx, org, name)).id,
  }),
  flow: async (tx, org, name) => ({ table: "flow", id: await getFlowId(tx, org, name) }),
  repo: async (tx, org, wire) => {
    const id = parseWireId(wire);
    const repo = id === undefined ? undefined : await findRepo(tx, org.id, id);
    if (repo === undefined) throw notFound(quotedUnknown("Repo", wire, org.name));
    return { table: "repo", id: repo.id };
  },
  control: async (tx, org, identifier) => {
    const control = await findControl(tx, org.id, identifier);
    if (control === undefined) throw notFound(quotedUnknown("Control", identifier, org.name));
    return { table: "control", id: control.id };
  },
};

/**
 * Removes and sets tags of one resource; a key in both ends up set. Repeating it changes nothing.
 * @throws AppError invalid for an unknown kind or too many tags, not_found for an unknown resource.
 */
export async function patchTags(deps: Deps, scope: OrgScope, target: Target, patch: TagPatch): Promise<void> {
  const kind = taggedKind(target.resource_type);
  if (kind === undefined)
    throw invalid(`Resource type '${target.resource_type}' is not one of: ${taggedKindSpellings.join(", ")}`);
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    const tagged = await find[kind](tx, org, target.resource_id);
    const count = await updateTags(tx, org.id, tagged, {
      remove: patch.remove_tags ?? [],
      set: patch.set_tags ?? {},
      at: deps.clock.now(),
    });
    if (count === undefined) return;
    if (count > tagLimits.tagsPerResource)
      throw invalid(`A resource can have at most ${tagLimits.tagsPerResource} tags`);
    record(kind, target.resource_id);
  });
}
