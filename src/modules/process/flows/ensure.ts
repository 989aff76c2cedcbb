import type { Tx } from "../../../db/connect.ts";
import { collision } from "../../../domain/errors.ts";
import { emptyTemplateText } from "../../../domain/template/model.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { archivedFlow } from "./service.ts";
import { insertMissingFlows, listFlowsByName } from "./store.ts";

/** A flow that a report names, which need not exist. */
export interface WantedFlow {
  name: string;
  /** Given to the flow when it does not exist; empty when left out. */
  description?: string;
  /** Becomes the creator, and the moment of creation, when the flow does not exist. */
  created_by_name: string;
  created_at: Timestamp;
}

/**
 * Finds flows by name and creates those that do not exist, with an empty template (contract flows 3.8). Works for any
 * number in at most four statements; of several with one name the first counts.
 * @returns ids by name.
 * @throws AppError invalid for the name of an archived flow.
 */
export async function ensureFlows(
  deps: Pick<Deps, "ids">,
  tx: Tx,
  orgId: string,
  flows: readonly WantedFlow[],
): Promise<Map<string, string>> {
  const wanted = new Map<string, WantedFlow>();
  for (const flow of flows) if (!wanted.has(flow.name)) wanted.set(flow.name, flow);
  const names = [...wanted.keys()];
  const ids = new Map<string, string>();
  const find = async (): Promise<void> => {
    for (const { name, id, by_name, archived } of await listFlowsByName(tx, orgId, names))
      if (!archived) ids.set(name, id);
      // Else it was archived while we waited for it, and the name is free.
      else if (by_name) throw archivedFlow(name);
  };
  await find();
  if (ids.size === names.length) return ids;
  const missing = [...wanted.values()].filter(({ name }) => !ids.has(name));
  await insertMissingFlows(
    tx,
    orgId,
    missing.map((flow) => ({
      ...flow,
      description: flow.description ?? "",
      id: deps.ids.next(),
      template_id: deps.ids.next(),
    })),
    emptyTemplateText,
  );
  await find();
  // Inserted by somebody else, who renamed or archived it at once.
  if (ids.size < names.length) throw collision();
  return ids;
}
