import type { Tx } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { invalidInput } from "../../../domain/errors.ts";
import { installation, type KeyRules } from "../../../domain/key-rules.ts";
import type { Actor } from "../../../domain/principal.ts";
import { getRules, liftAddresses, setRules, type ShownRules } from "../../kernel/access/rules-service.ts";
import { appendInstanceEntry, recorded, type Scope } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";

/** New rules, and who wants them from where. */
export interface RuleChange {
  rules: KeyRules;
  /** Of the rules that they are to take the place of; undefined for whatever is there. */
  version: string | undefined;
  actor: Actor;
  /** Of the caller. */
  address: string;
}

type ChangeDeps = Pick<Deps, "db" | "clock">;
type RuleDeps = ChangeDeps & Pick<Deps, "config">;

/** Nobody could sign in as the rule asks. @throws AppError invalid. */
function requireProvider({ config }: Pick<Deps, "config">, { sso_only }: KeyRules): void {
  if (sso_only && config.oidc === undefined)
    throw invalidInput({ sso_only: "There is no sign-in provider [input: True]" });
}

/** Changes rules in a transaction. @returns the names of those that changed. */
type Change = (tx: Tx) => Promise<string[]>;

/** Changes an organization's rules. Its audit log has the names of those that changed, never what they are. */
function changeInOrganization(deps: ChangeDeps, scope: Scope, change: Change): Promise<string[]> {
  return recorded(deps, scope, async (tx, record) => {
    const names = await change(tx);
    if (names.length > 0) record("settings_changed", names.join(","));
    return names;
  });
}

/** Changes the installation's rules, recorded likewise in the log of the instance. */
function changeInInstallation(deps: ChangeDeps, actor: Actor, change: Change): Promise<string[]> {
  return transaction(deps.db, async (tx) => {
    const names = await change(tx);
    if (names.length === 0) return names;
    const entry = { resource_type: "security_rules", resource: "instance", details: { names } };
    appendInstanceEntry(deps, tx, { actor, action: "settings_changed", ...entry });
    return names;
  });
}

/** Sets an organization's rules. @throws AppError invalid; conflict where they are others by now than they were read. */
export async function setOrganizationRules(
  deps: RuleDeps,
  org: { id: string },
  { actor, ...change }: RuleChange,
): Promise<ShownRules> {
  requireProvider(deps, change.rules);
  await changeInOrganization(deps, { org, actor }, (tx) => setRules(deps, tx, org.id, change));
  return getRules(deps, org.id);
}

/** Sets the installation's rules, recorded in the log of the instance. @throws AppError invalid; conflict as above. */
export async function setInstanceRules(
  deps: RuleDeps,
  { actor, ...change }: RuleChange,
): Promise<ShownRules> {
  requireProvider(deps, change.rules);
  await changeInInstallation(deps, actor, (tx) => setRules(deps, tx, installation, change));
  return getRules(deps, installation);
}

/**
 * Lets callers come from anywhere again, for who locked everybody out: in one organization, or where the installation refuses them.
 * @param org undefined for the installation.
 * @returns whether there was a list of addresses.
 */
export async function liftAddressLists(
  deps: ChangeDeps,
  actor: Actor,
  org: { id: string } | undefined,
): Promise<boolean> {
  const lift = (tx: Tx): Promise<string[]> => liftAddresses(deps, tx, org?.id ?? installation);
  const names =
    org === undefined
      ? await changeInInstallation(deps, actor, lift)
      : await changeInOrganization(deps, { org, actor }, lift);
  return names.length > 0;
}
