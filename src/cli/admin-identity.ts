import { z } from "zod";

import { invalid, notFound } from "../domain/errors.ts";
import { displayNameLength, organizationNameLength, organizationNamePattern } from "../domain/names.ts";
import { type Role, roles } from "../domain/roles.ts";
import { setMember } from "../modules/identity/members/service.ts";
import { createSharedOrganization } from "../modules/identity/organizations/service.ts";
import { findOrganization } from "../modules/identity/organizations/store.ts";
import { registerUser, setUserDisabled } from "../modules/identity/users/service.ts";
import { type CommandDeps, commandActor } from "./command-deps.ts";
import { print } from "./output.ts";

/** Checks the name of an organization or a user. @throws AppError invalid. */
function requireName(name: string): string {
  const { min, max } = organizationNameLength;
  if (name.length >= min && name.length <= max && organizationNamePattern.test(name)) return name;
  throw invalid(
    `'${name}' is not a valid name: ${min} to ${max} letters, digits, '-', '_' and '.', the first a letter or digit`,
  );
}

function requireDisplayName(name: string | undefined): string | undefined {
  if ((name?.length ?? 0) <= displayNameLength) return name;
  throw invalid(`A display name has at most ${displayNameLength} characters`);
}

function requireEmail(email: string | undefined): string | undefined {
  if (email === undefined || z.email().max(320).safeParse(email).success) return email;
  throw invalid(`'${email}' is not a valid mail address`);
}

/** Runs `waybill admin create-org`: creates a shared organization with a first admin. */
export async function createOrg(
  deps: CommandDeps,
  name: string,
  options: { owner: string; displayName?: string; public?: boolean },
): Promise<void> {
  await createSharedOrganization(deps, commandActor("admin create-org"), {
    name: requireName(name),
    owner: options.owner,
    display_name: requireDisplayName(options.displayName) ?? "",
    public: options.public ?? false,
    source: "script",
  });
  print.line(`Created organization ${name} with admin ${options.owner}`);
}

/** Runs `waybill admin create-user`: creates a user and their personal organization, without a key. */
export async function createUserCommand(
  deps: CommandDeps,
  name: string,
  options: { email?: string; displayName?: string; instanceAdmin?: boolean },
): Promise<void> {
  const actor = commandActor("admin create-user");
  await registerUser(deps, actor, {
    name: requireName(name),
    email: requireEmail(options.email),
    display_name: requireDisplayName(options.displayName),
    instance_admin: options.instanceAdmin ?? false,
    by: { changed_by: actor.name, source: "script" },
  });
  print.line(`Created user ${name}. Create a key with: waybill admin create-key --user ${name}`);
}

function requireRole(role: string): Role {
  const known = roles.find((name) => name === role);
  if (known === undefined) throw invalid(`'${role}' is not a role; roles are ${roles.join(", ")}`);
  return known;
}

/** Runs `waybill admin set-role`: makes a user a member of an organization, or changes their role there. */
export async function setRole(
  deps: CommandDeps,
  orgName: string,
  change: { user: string; role: string },
): Promise<void> {
  const role = requireRole(change.role);
  const org = await findOrganization(deps.db, orgName);
  if (org === undefined) throw notFound(`Organization '${orgName}' does not exist`);
  const scope = { org, actor: commandActor("admin set-role"), principal: undefined };
  await setMember(deps, scope, { user: change.user, role, source: "script" });
  print.line(`Gave ${change.user} the role ${role} in ${orgName}`);
}

/** Runs `waybill admin disable-user` and `enable-user`: makes all keys of a user stop working, or work again. */
export async function switchUser(
  deps: CommandDeps,
  user: string,
  change: { disabled: boolean },
): Promise<void> {
  const command = change.disabled ? "admin disable-user" : "admin enable-user";
  await setUserDisabled(deps, commandActor(command), { user, ...change });
  print.line(
    change.disabled
      ? `Disabled user ${user}: their keys no longer work`
      : `Enabled user ${user}: their keys work again`,
  );
}
