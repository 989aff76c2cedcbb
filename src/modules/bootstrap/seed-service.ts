import type { Tx } from "../../db/connect.ts";
import type { Actor } from "../../domain/principal.ts";
import { issueKey } from "../access/key-service.ts";
import { appendRecord } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import { addMember } from "../members/service.ts";
import { createOrganization } from "../organizations/service.ts";
import { createUser } from "../users/service.ts";
import type { Seed } from "./seed.ts";

/** What there is after planting. */
export interface Planted {
  users: number;
  organizations: number;
  keys: number;
}

type SeedDeps = Pick<Deps, "clock" | "ids">;
type SeedUser = Seed["users"][number];

interface Garden {
  tx: Tx;
  actor: Actor;
  /** Id of each shared organization made so far. */
  shared: Map<string, string>;
}

// Test users are often given one mailbox, so a seed may repeat an address.
async function plantUser(deps: SeedDeps, { tx, actor }: Garden, user: SeedUser): Promise<string> {
  const by = { changed_by: actor.name, source: "script" } as const;
  const { name, email, display_name, instance_admin = false } = user;
  const { user_id, org_id } = await createUser(deps, tx, {
    name,
    email,
    display_name,
    instance_admin,
    shares_email: true,
    by,
  });
  const scope = { org: { id: org_id }, actor };
  appendRecord(deps, tx, scope, { resource_type: "user", resource: name });
  for (const value of user.api_keys) {
    const key = { owner: { user_id }, description: "seed", created_by_name: actor.name, value };
    const { id } = await issueKey(deps, tx, key);
    appendRecord(deps, tx, scope, { resource_type: "api_key", resource: id });
  }
  return user_id;
}

async function plantShared(
  deps: SeedDeps,
  { tx, actor, shared }: Garden,
  owner: { id: string; name: string; organization: string },
): Promise<void> {
  const by = { changed_by: actor.name, source: "script" } as const;
  const known = shared.get(owner.organization);
  if (known !== undefined) {
    await addMember(deps, tx, { org_id: known, user_id: owner.id, user: owner.name, role: "admin", ...by });
    appendRecord(deps, tx, { org: { id: known }, actor }, { resource_type: "member", resource: owner.name });
    return;
  }
  const name = owner.organization;
  const id = await createOrganization(deps, tx, { name, kind: "shared", owner, by });
  shared.set(name, id);
  appendRecord(deps, tx, { org: { id }, actor }, { resource_type: "organization", resource: name });
}

/**
 * Makes the users, organizations and keys of a seed, in an empty database.
 * @throws AppError invalid when names or keys in it are taken twice.
 */
export async function plantSeed(
  deps: SeedDeps,
  tx: Tx,
  planting: { seed: Seed; actor: Actor },
): Promise<Planted> {
  const garden: Garden = { tx, actor: planting.actor, shared: new Map() };
  const { users } = planting.seed;
  for (const user of users) {
    const id = await plantUser(deps, garden, user);
    for (const organization of new Set(user.shared_organizations))
      await plantShared(deps, garden, { id, name: user.name, organization });
  }
  const keys = users.reduce((count, user) => count + user.api_keys.length, 0);
  return { users: users.length, organizations: users.length + garden.shared.size, keys };
}
