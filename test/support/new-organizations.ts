import type { Tx } from "../../src/db/connect.ts";
import { transaction } from "../../src/db/transaction.ts";
import { type Role, roles } from "../../src/domain/roles.ts";
import { sha256 } from "../../src/lib/hash.ts";
import { createToken } from "../../src/lib/token.ts";
import { insertMembership } from "../../src/modules/identity/members/store.ts";
import { insertOrganization } from "../../src/modules/identity/organizations/store.ts";
import { createUser } from "../../src/modules/identity/users/service.ts";
import { insertApiKey } from "../../src/modules/kernel/access/key-store.ts";
import type { Deps } from "../../src/modules/kernel/deps.ts";
import { uniqueName } from "./unique-name.ts";

export interface OrganizationOptions {
  kind?: "personal" | "shared";
  public?: boolean;
}

/** An organization, with the key of a member for each role. */
export interface NewOrganization {
  id: string;
  name: string;
  keys: Record<Role, string>;
}

export interface UserOptions {
  instance_admin?: boolean;
  display_name?: string;
}

/** A user with a key, and the organization that is theirs alone. */
export interface NewUser {
  id: string;
  name: string;
  key: string;
  org_id: string;
}

type MakingDeps = Pick<Deps, "clock" | "db" | "ids">;

/** Creates a user with a key, as the program does. */
export async function createUserWithKey(
  deps: MakingDeps,
  tx: Tx,
  options: UserOptions = {},
): Promise<NewUser> {
  const name = uniqueName("user");
  const key = createToken();
  const { user_id, org_id } = await createUser(deps, tx, { name, ...options });
  await insertApiKey(tx, {
    id: deps.ids.next(),
    key_hash: sha256(key),
    owner: { user_id },
    description: "test",
    created_at: deps.clock.now(),
    created_by_name: name,
    expires_at: null,
  });
  return { id: user_id, name, key, org_id };
}

/** Creates an organization with a member for each role, as the program does, in some forty statements. */
export function createOrganizationStepwise(
  deps: MakingDeps,
  options: OrganizationOptions = {},
): Promise<NewOrganization> {
  const id = deps.ids.next();
  const name = uniqueName("org");
  return transaction(deps.db, async (tx) => {
    const created_at = deps.clock.now();
    const { kind = "shared", public: isPublic = false } = options;
    await insertOrganization(tx, { id, name, kind, public: isPublic, owner_user_id: null, created_at });
    const keys: Partial<Record<Role, string>> = {};
    for (const role of roles) {
      const user = await createUserWithKey(deps, tx);
      await insertMembership(tx, { org_id: id, user_id: user.id, role, created_at });
      keys[role] = user.key;
    }
    return { id, name, keys: keys as Record<Role, string> };
  });
}

/** Everything that an organization of a test is, in one statement. */
const insertAll = `
  with people as (
    select * from jsonb_to_recordset($6) as p(
      id uuid, org_id uuid, key_id uuid, event_id uuid, name text, role text, key_hash text)
  ), new_users as (
    insert into users (id, name, created_at) select id, name, to_timestamp($5) from people
  ), own as (
    insert into organizations (id, name, kind, owner_user_id, created_at, last_modified_at)
    select org_id, name, 'personal', id, to_timestamp($5), to_timestamp($5) from people
  ), shared as (
    insert into organizations (id, name, kind, public, created_at, last_modified_at)
    values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5))
  ), counters as (
    insert into org_counters (org_id) select org_id from people union all values ($1)
  ), members as (
    insert into memberships (org_id, user_id, role, created_at, source)
    select org_id, id, 'admin', to_timestamp($5), 'app' from people
    union all select $1, id, role, to_timestamp($5), 'app' from people
  ), events as (
    insert into membership_events (org_id, id, occurred_at, event_type, user_id, user_name, role, changed_by_name, source)
    select org_id, event_id, to_timestamp($5), 'added', id, name, 'admin', name, 'script' from people
  )
  insert into api_keys (id, key_hash, user_id, description, created_at, created_by_name)
  select key_id, decode(key_hash, 'hex'), id, 'test', to_timestamp($5), name from people`;

/**
 * Creates an organization with a member for each role in one statement, because most tests begin with one: rows are those of
 * `createOrganizationStepwise`, which a test compares. Not for Citus, where one statement changes rows of one organization.
 */
export async function createOrganizationAtOnce(
  deps: MakingDeps,
  options: OrganizationOptions = {},
): Promise<NewOrganization> {
  const id = deps.ids.next();
  const name = uniqueName("org");
  const people = roles.map((role) => ({
    id: deps.ids.next(),
    org_id: deps.ids.next(),
    event_id: deps.ids.next(),
    key_id: deps.ids.next(),
    name: uniqueName("user"),
    role,
    key: createToken(),
  }));
  const { kind = "shared", public: isPublic = false } = options;
  const rows = people.map(({ key, ...person }) => ({ ...person, key_hash: sha256(key).toString("hex") }));
  await deps.db.pool.query({
    name: "test-organization",
    text: insertAll,
    values: [id, name, kind, isPublic, deps.clock.now(), JSON.stringify(rows)],
  });
  const keys = Object.fromEntries(people.map(({ role, key }) => [role, key])) as Record<Role, string>;
  return { id, name, keys };
}
