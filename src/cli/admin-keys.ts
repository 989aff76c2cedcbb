import { invalid, notFound } from "../domain/errors.ts";
import { apiKeyDescriptionLength, chosenKeyPattern, latestExpiry } from "../domain/names.ts";
import type { IssuedKey, KeyInput } from "../modules/kernel/access/key-service.ts";
import { findOrganization } from "../modules/identity/organizations/store.ts";
import { liftAddressLists } from "../modules/identity/security/service.ts";
import { issueAccountKeyByName } from "../modules/identity/service-accounts/key-service.ts";
import { getUserByName, issueUserKey } from "../modules/identity/users/service.ts";
import { type CommandDeps, commandActor } from "./command-deps.ts";
import { print } from "./output.ts";

/** The owner of a key: a user, or a service account of an organization. */
interface KeyOwnerOptions {
  user?: string;
  org?: string;
  serviceAccount?: string;
}

export interface KeyOptions extends KeyOwnerOptions {
  description: string;
  /** Unix seconds, or a date as ISO 8601; the key never expires unless given. */
  expiresAt?: string;
}

function readExpiry(text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.floor(Date.parse(text) / 1000);
  if (!Number.isFinite(seconds) || seconds > latestExpiry)
    throw invalid(
      `'${text}' is not a time: give Unix seconds or a date such as 2030-12-31, up to 2100-01-01`,
    );
  return seconds;
}

function requireDescription(text: string): string {
  const { min, max } = apiKeyDescriptionLength;
  if (text.length >= min && text.length <= max) return text;
  throw invalid(`A key's description has ${min} to ${max} characters`);
}

async function getOrganization(deps: CommandDeps, name: string): Promise<{ id: string }> {
  const org = await findOrganization(deps.db, name);
  if (org === undefined) throw notFound(`Organization '${name}' does not exist`);
  return org;
}

async function issue(
  deps: CommandDeps,
  options: KeyOptions,
  made: { command: string; value?: string },
): Promise<IssuedKey> {
  const actor = commandActor(made.command);
  const input: KeyInput = {
    description: requireDescription(options.description),
    expires_at: readExpiry(options.expiresAt),
    created_by_name: actor.name,
    ...(made.value === undefined ? {} : { value: made.value }),
  };
  const { user, org: orgName, serviceAccount } = options;
  if (user !== undefined && orgName === undefined && serviceAccount === undefined) {
    const { id: user_id } = await getUserByName(deps, user);
    return issueUserKey(deps, { user_id, by: undefined, actor }, input);
  }
  if (user !== undefined || orgName === undefined || serviceAccount === undefined)
    throw invalid("Say whose key: either --user NAME, or --org NAME with --service-account NAME");
  const org = await getOrganization(deps, orgName);
  return issueAccountKeyByName(deps, { org, actor }, { ...input, name: serviceAccount });
}

/** Runs `waybill admin create-key`: prints the key's value and nothing else, so that scripts can take it. */
export async function createKey(deps: CommandDeps, options: KeyOptions): Promise<void> {
  const issued = await issue(deps, options, { command: "admin create-key" });
  print.line(issued.key);
}

/** Runs `waybill admin import-key`: makes a key with a value brought from elsewhere. The value is not printed. */
export async function importKey(deps: CommandDeps, value: string, options: KeyOptions): Promise<void> {
  if (!chosenKeyPattern.test(value))
    throw invalid("A key's value has 20 to 512 printable ASCII characters and no blanks");
  const issued = await issue(deps, options, { command: "admin import-key", value });
  print.line(`Imported the key; its id is ${issued.id}`);
}

/** Whose list of addresses is lifted: that of an organization, or of the whole installation. */
export interface LiftOptions {
  org?: string;
  instance?: boolean;
}

/** Runs `waybill admin lift-addresses`: lets callers come from anywhere again, when a list of addresses locks everybody out. */
export async function liftAddressesCommand(
  deps: CommandDeps,
  { org: name, instance }: LiftOptions,
): Promise<void> {
  if ((name !== undefined) === (instance === true))
    throw invalid("Say whose list of addresses: either --org NAME, or --instance");
  const org = name === undefined ? undefined : await getOrganization(deps, name);
  const whose = name === undefined ? "The installation" : `Organization ${name}`;
  const wasLifted = await liftAddressLists(deps, commandActor("admin lift-addresses"), org);
  print.line(wasLifted ? `${whose} takes callers from anywhere again` : `${whose} has no list of addresses`);
}
