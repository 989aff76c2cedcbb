import { z } from "zod";

import type { Tx } from "../../../db/connect.ts";
import {
  chosenKeyPattern,
  displayNameLength,
  organizationNameLength,
  organizationNamePattern,
} from "../../../domain/names.ts";
import type { Actor } from "../../../domain/principal.ts";
import { issueKey } from "../../kernel/access/key-service.ts";
import { appendRecord } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { addMember } from "../members/service.ts";
import { createOrganization } from "../organizations/service.ts";
import { createUser } from "../users/service.ts";

const Name = z
  .string()
  .min(organizationNameLength.min)
  .max(organizationNameLength.max)
  .regex(organizationNamePattern);

const SeedUser = z.strictObject({
  name: Name,
  email: z.email().max(320).optional(),
  display_name: z.string().max(displayNameLength).optional(),
  instance_admin: z.boolean().optional(),
  api_keys: z
    .array(z.string().regex(chosenKeyPattern, "must be 20 to 512 printable ASCII characters without blanks"))
    .default([]),
  shared_organizations: z.array(Name).default([]),
});

/**
 * The users of an installation to begin with (I7). Each gets a personal organization of the same name and the keys
 * listed, and is admin of the shared organizations listed; one listed by several users is shared by them.
 */
export const Seed = z.strictObject({ users: z.array(SeedUser) });

export type Seed = z.output<typeof Seed>;

/** How much a seed made. */
export interface SeedCounts {
  users: number;
  organizations: number;
  keys: number;
}

type SeedDeps = Pick<Deps, "clock" | "ids">;

interface Seeding {
  tx: Tx;
  actor: Actor;
  /** Id of each shared organization made so far. */
  shared: Map<string, string>;
}

/** Makes a user with their keys. Test users often share one mailbox, so a seed may repeat an address. */
async function seedUser(
  deps: SeedDeps,
  { tx, actor }: Seeding,
  user: Seed["users"][number],
): Promise<string> {
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
    const key = { description: "seed", created_by_name: actor.name, value };
    const { id } = await issueKey(deps, tx, { ...key, owner: { user_id }, by: undefined });
    appendRecord(deps, tx, scope, { resource_type: "api_key", resource: id });
  }
  return user_id;
}

/** Makes a user admin of a shared organization, which the first of them creates. */
async function joinShared(
  deps: SeedDeps,
  { tx, actor, shared }: Seeding,
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
export async function applySeed(
  deps: SeedDeps,
  tx: Tx,
  { seed: { users }, actor }: { seed: Seed; actor: Actor },
): Promise<SeedCounts> {
  const seeding: Seeding = { tx, actor, shared: new Map() };
  for (const user of users) {
    const id = await seedUser(deps, seeding, user);
    for (const organization of new Set(user.shared_organizations))
      await joinShared(deps, seeding, { id, name: user.name, organization });
  }
  const keys = users.reduce((count, user) => count + user.api_keys.length, 0);
  return { users: users.length, organizations: users.length + seeding.shared.size, keys };
}
