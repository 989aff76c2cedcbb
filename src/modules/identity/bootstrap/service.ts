import { randomUUID } from "node:crypto";

import { sql } from "../../../db/sql.ts";
import { transaction } from "../../../db/transaction.ts";
import type { Actor } from "../../../domain/principal.ts";
import { createKeyValue, issueKey } from "../../kernel/access/key-service.ts";
import { appendRecord } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { createOrganization } from "../organizations/service.ts";
import { createUser, hasAnyUser, preferOrganization } from "../users/service.ts";

/** Any number that nobody else locks; every process that starts on an empty database takes this one. */
const firstStartLock = 4_707_207_702;

/** How the key of the first start is described. */
export const firstKeyDescription = "Made at the first start";

/** What the first start made. */
export interface FirstStart {
  user: string;
  organization: string;
  key: string;
}

const names = { user: "admin", organization: "main" };

/**
 * Makes an administrator with a key and a shared organization of theirs on an empty database; otherwise nothing. Of
 * processes that start together one does it.
 * @param keep stores the key where people find it. It has to be safe there before this commits, so that there is never
 * a set-up installation whose key nobody knows: killed before the commit, the next start makes everything anew and
 * keeps that key instead.
 */
export function bootstrap(
  deps: Pick<Deps, "db" | "clock" | "ids">,
  keep: (key: string) => Promise<void>,
): Promise<FirstStart | undefined> {
  const key = createKeyValue();
  const actor: Actor = {
    kind: "system",
    id: null,
    name: "first start",
    api_key_id: null,
    action: "first start",
    request_id: randomUUID(),
    request_digest: null,
  };
  return transaction(deps.db, async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${firstStartLock})`);
    if (await hasAnyUser(tx)) return undefined;
    const by = { changed_by: actor.name, source: "script" } as const;
    const { user_id, org_id } = await createUser(deps, tx, { name: names.user, instance_admin: true, by });
    const main_id = await createOrganization(deps, tx, {
      name: names.organization,
      kind: "shared",
      owner: { id: user_id, name: names.user },
      by,
    });
    await preferOrganization(tx, user_id, main_id);
    const first = { description: firstKeyDescription, created_by_name: actor.name, value: key };
    const issued = await issueKey(deps, tx, { ...first, owner: { user_id }, by: undefined });
    const personal = { org: { id: org_id }, actor };
    appendRecord(deps, tx, personal, { resource_type: "user", resource: names.user });
    appendRecord(deps, tx, personal, { resource_type: "api_key", resource: issued.id });
    const main = { org: { id: main_id }, actor };
    appendRecord(deps, tx, main, { resource_type: "organization", resource: names.organization });
    await keep(key);
    return { ...names, key };
  });
}
