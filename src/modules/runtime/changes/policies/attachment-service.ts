import type { Tx } from "../../../../db/connect.ts";
import { notFound } from "../../../../domain/errors.ts";
import { unknownPolicy } from "../../../../domain/policies.ts";
import type { Org, OrgScope } from "../../../../domain/principal.ts";
import { recorded } from "../../../kernel/audit/service.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { lockAll, lockLive } from "../../environments/service.ts";
import { type Difference, markGroupsModified } from "../environments/member-service.ts";
import { reevaluate } from "../../snapshots/report/evaluate-service.ts";
import {
  deleteAttachments,
  lockAttached,
  lockPolicies,
  insertAttachments,
  listAttachedIds,
  updateShownPolicies,
} from "./attachment-store.ts";

/** How the policies of an environment are to change. */
interface AttachmentChange {
  environmentId: string;
  names: readonly string[];
  /** `set` makes them the only ones. */
  kind: "attach" | "detach" | "set";
}

/** Finds the ids of the policies of these names, in order, each once. @throws AppError not_found for the first unknown name. */
async function resolvePolicies(tx: Tx, org: Org, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const locked = await lockPolicies(tx, org.id, [...new Set(names)]);
  const ids = new Map(locked.map(({ id, name }) => [name, id]));
  return [...new Set(names)].map((name) => {
    const id = ids.get(name);
    if (id === undefined) throw notFound(unknownPolicy(name, org.name));
    return id;
  });
}

function differenceOf(kind: AttachmentChange["kind"], present: readonly string[], named: readonly string[]) {
  const added = kind === "detach" ? [] : named.filter((id) => !present.includes(id));
  const gone = { attach: [], detach: named, set: present.filter((id) => !named.includes(id)) }[kind];
  return { added, gone: gone.filter((id) => present.includes(id)) };
}

/**
 * Changes what is asked of an environment, whose row the caller has locked. What runs there has to be judged again then.
 * @returns what that comes to: nothing, only less, or more.
 * @throws AppError not_found for an unknown policy.
 */
export async function changeAttachments(
  deps: Deps,
  tx: Tx,
  org: Org,
  { environmentId, names, kind }: AttachmentChange,
): Promise<Difference> {
  await lockAll(tx, org, [environmentId]);
  const named = await resolvePolicies(tx, org, names);
  const present = await listAttachedIds(tx, org.id, environmentId);
  const { added, gone } = differenceOf(kind, present, named);
  if (added.length === 0 && gone.length === 0) return "nothing";
  await deleteAttachments(tx, org.id, environmentId, gone);
  const attachments = added.map((policy_id) => ({ id: deps.ids.next(), policy_id }));
  await insertAttachments(tx, org.id, environmentId, attachments);
  const at = deps.clock.now();
  await updateShownPolicies(tx, org.id, environmentId, at);
  await markGroupsModified(tx, org, environmentId, at);
  return added.length === 0 ? "less" : "more";
}

/**
 * Lets none of the policies of an environment have a new version until the transaction ends. Who brings one has it judged where the policy is
 * attached and live, and would not see an environment that is just coming out of the archive. Call it when the environment is locked.
 */
export function lockAttachedPolicies(tx: Tx, org: Org, environmentId: string): Promise<void> {
  return lockAttached(tx, org.id, environmentId);
}

/**
 * Attaches policies to a live environment, or detaches them (contract environments 2.9). Repeating it changes nothing.
 * @throws AppError not_found for an unknown environment or policy.
 */
export async function attachOrDetach(
  deps: Deps,
  scope: OrgScope,
  change: { environment: string; names: readonly string[]; kind: "attach" | "detach" },
): Promise<void> {
  const { org } = scope;
  await recorded(deps, scope, async (tx, record) => {
    const { id, name } = await lockLive(tx, org, change.environment, "no key update");
    const difference = await changeAttachments(deps, tx, org, { environmentId: id, ...change });
    if (difference === "nothing") return;
    const isLess = difference === "less";
    await reevaluate(deps, tx, org, { environmentIds: [id], cause: "policy", isLess });
    record("environment", name);
  });
}
