import type { Executor, Tx } from "../../../../db/connect.ts";
import type { PolicyVersion } from "../../../../domain/policy/evaluation/model.ts";
import type { Policy } from "../../../../domain/policy/model.ts";
import { readPolicy } from "../../../../domain/policy/parse.ts";
import { wireId } from "../../../../lib/ids.ts";
import { present } from "../../../../lib/present.ts";
import { TextCache } from "../../../../lib/text-cache.ts";
import { yamlOf } from "../../../kernel/yaml.ts";
import { listApplied, listVersionTexts } from "./applied-store.ts";

/** Versions never change, so what they say may be remembered by all servers alike. */
const parsed = new TextCache<Policy>(4 * 1024 * 1024);

/**
 * Reads what versions of policies say, by the ids of the versions. Those read before take no statement, the others one
 * together.
 */
export async function readPolicies(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, Policy>> {
  const policies = new Map<string, Policy>();
  const missing: string[] = [];
  for (const id of new Set(ids)) {
    const policy = parsed.get(id);
    if (policy === undefined) missing.push(id);
    else policies.set(id, policy);
  }
  if (missing.length === 0) return policies;
  for (const { id, text } of await listVersionTexts(db, orgId, missing)) {
    const policy = await readPolicy(text, yamlOf(orgId), "stored");
    parsed.set(id, policy, text.length);
    policies.set(id, policy);
  }
  return policies;
}

/**
 * Finds the latest version of every policy attached to each environment, in the order of attachment; an empty list for those
 * without any. The ids are those of the versions, as the wire has them.
 */
export async function appliedPolicies(
  tx: Tx,
  orgId: string,
  environmentIds: readonly string[],
): Promise<Map<string, PolicyVersion[]>> {
  const applied = new Map<string, PolicyVersion[]>(environmentIds.map((id) => [id, []]));
  const rows = await listApplied(tx, orgId, environmentIds);
  const policies = await readPolicies(
    tx,
    orgId,
    rows.map(({ id }) => id),
  );
  for (const { environment_id, id, name, version } of rows)
    applied.get(environment_id)?.push({
      id: wireId(id),
      name,
      version,
      policy: present(policies.get(id), "every version was read"),
    });
  return applied;
}
