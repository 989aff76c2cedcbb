import type { Executor, Tx } from "../../../db/connect.ts";
import { lockName } from "../../../db/lock.ts";
import { AppError, forbidden, invalidInput } from "../../../domain/errors.ts";
import {
  changedRules,
  graceDays,
  installation,
  type KeyKind,
  keyKinds,
  type KeyRules,
  lastTightened,
  latestEnd,
  neverTightened,
  noRules,
  providerInstead,
  ruleNames,
  type TightenedAt,
  tightenedRules,
} from "../../../domain/key-rules.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { sha256 } from "../../../lib/hash.ts";
import { isInNetworks, networkText } from "../../../lib/network-list.ts";
import { daySeconds } from "../../../lib/units.ts";
import type { Deps } from "../deps.ts";
import type { KeyOwner } from "./key-store.ts";
import {
  deleteFormerAges,
  type EndingKeyRow,
  insertFormerAge,
  listEndingKeys,
  listEndingKeysOfAll,
  listRules,
  type StoredRules,
  updateFormerAges,
  upsertRules,
} from "./rules-store.ts";

/** Rules as they are shown: with the keys that come near to their end by them. */
export interface ShownRules extends KeyRules {
  /** When ages or expiry were last asked for more strictly; null: never. Keys that worked then end 30 days later at the earliest. */
  tightened_at: Timestamp | null;
  /** Another one whenever the rules are others. */
  version: string;
  ending_keys: EndingKeyRow[];
}

const mostEndingKeys = 100;

/** Makes what tells rules from others: of what they say, so that those which were changed and changed back are as they were read. */
function versionOf(rules: KeyRules): string {
  return sha256(JSON.stringify(ruleNames.map((name) => rules[name])))
    .toString("hex")
    .slice(0, 16);
}

/** Made where somebody else was faster. */
const changedMeanwhile = (): AppError =>
  new AppError("conflict", "Somebody else has changed these rules meanwhile: read them again", {
    reason: "changed_meanwhile",
  });

type RuleDeps = Pick<Deps, "db" | "clock">;

async function storedRules(db: Executor, orgId: string): Promise<StoredRules> {
  const [stored] = await listRules(db, [orgId]);
  return stored ?? { org_id: orgId, rules: noRules, tightened: neverTightened };
}

/** Reads the rules of an organization, or of the installation, and which keys end soon. Looks as far ahead as keys have that break new rules. */
export async function getRules(deps: RuleDeps, orgId: string): Promise<ShownRules> {
  const from = deps.clock.now();
  const window = { from, to: from + graceDays * daySeconds, limit: mostEndingKeys };
  const [{ rules, tightened }, ending_keys] = await Promise.all([
    storedRules(deps.db, orgId),
    orgId === installation ? listEndingKeysOfAll(deps.db, window) : listEndingKeys(deps.db, orgId, window),
  ]);
  const tightened_at = lastTightened(tightened);
  return { ...rules, tightened_at, version: versionOf(rules), ending_keys };
}

/** Reads networks in one form, each once. @throws AppError invalid for what is none, naming its place. */
export function readNetworks(given: readonly string[] | null | undefined): string[] | null {
  if (given === null || given === undefined || given.length === 0) return null;
  const errors: Record<string, string> = {};
  const networks = given.map((text, index) => {
    const network = networkText(text);
    if (network === undefined)
      errors[`allowed_addresses[${index}]`] = `Input should be a network in CIDR notation [input: ${text}]`;
    return network ?? "";
  });
  if (Object.keys(errors).length > 0) throw invalidInput(errors);
  return [...new Set(networks)];
}

/**
 * Sets the rules of an organization, or of the installation, all at once. Ages and expiry that become stricter count from now: keys that work have 30 days.
 * @param address of the caller, who must not lock themselves out. @param version of the rules that they are to take the place of; undefined for whatever
 * is there.
 * @returns the names of the rules that changed.
 * @throws AppError invalid for networks that are none, or that the caller is not in; conflict where there are others by now, but for those that are asked
 * for.
 */
export async function setRules(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  orgId: string,
  { rules: given, address, version }: { rules: KeyRules; address: string; version: string | undefined },
): Promise<string[]> {
  const rules = { ...given, allowed_addresses: readNetworks(given.allowed_addresses) };
  if (rules.allowed_addresses !== null && !isInNetworks(address, rules.allowed_addresses))
    throw invalidInput({ allowed_addresses: `Your own address ${address} should be in one of the networks` });
  return replaceRules(deps, tx, orgId, (before) => {
    const isOther = version !== undefined && version !== versionOf(before);
    // Who got no answer and asks again finds what they asked for.
    if (isOther && changedRules(before, rules).length > 0) throw changedMeanwhile();
    return rules;
  });
}

/**
 * Lets callers come from anywhere again, and keeps all other rules of an organization, or of the installation.
 * @returns the names of the rules that changed: that one, or none.
 */
export function liftAddresses(deps: Pick<Deps, "clock">, tx: Tx, orgId: string): Promise<string[]> {
  return replaceRules(deps, tx, orgId, (rules) => ({ ...rules, allowed_addresses: null }));
}

/** Seconds after a rule became stricter, by which the keys from before that break it have ended for more than the day in which that is told. */
const settledSeconds = (graceDays + 1) * daySeconds;

/**
 * Keeps what is needed to know which keys had ended before an age of theirs became stricter: one former age a day at most, and as a rule one in all. Once a
 * rule has ended whatever it gave time to, it says of all keys by itself whether they have ended.
 */
async function keepFormerAges(tx: Tx, before: StoredRules, after: KeyRules, at: Timestamp): Promise<void> {
  for (const kind of keyKinds) {
    const [age, next] = [before.rules.max_key_age_days[kind], after.max_key_age_days[kind]];
    if (age === null || age === next) continue;
    if (next === null) await deleteFormerAges(tx, before.org_id, kind);
    else if (next > age) await updateFormerAges(tx, before.org_id, kind, next);
    else {
      const tightened_at = before.tightened[kind];
      const inForce = tightened_at === null ? Infinity : at - tightened_at;
      if (inForce > settledSeconds) await deleteFormerAges(tx, before.org_id, kind);
      if (inForce >= Math.min(age, graceDays) * daySeconds)
        await insertFormerAge(tx, before.org_id, { kind, max_days: age, tightened_at, replaced_at: at });
    }
  }
}

async function replaceRules(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  orgId: string,
  change: (rules: KeyRules) => KeyRules,
): Promise<string[]> {
  await lockName(tx, `security rules ${orgId}`);
  const before = await storedRules(tx, orgId);
  const rules = change(before.rules);
  const changed = changedRules(before.rules, rules);
  if (changed.length === 0) return changed;
  const at = deps.clock.now();
  const tightened: TightenedAt = { ...before.tightened };
  for (const rule of tightenedRules(before.rules, rules)) tightened[rule] = at;
  await keepFormerAges(tx, before, rules, at);
  await upsertRules(tx, { org_id: orgId, rules, tightened }, at);
  return changed;
}

/** Says whether the operator has pages opened by the sign-in provider alone, and never with a key. */
export function isProviderRequired({ config }: Pick<Deps, "config">): boolean {
  return config.oidc?.isRequired === true;
}

/** Holds that people may begin sessions with their keys. @throws AppError forbidden where they come by the sign-in provider. */
export async function requireKeysForPeople({ db }: Pick<Deps, "db">): Promise<void> {
  const { rules } = await storedRules(db, installation);
  if (rules.sso_only) throw forbidden(providerInstead);
}

/**
 * Holds the end of a new key against the rules for its owner's keys.
 * @param asked Unix seconds; null for never; undefined for what the rules give.
 * @returns the end it gets; null for never.
 * @throws AppError invalid for no end where one is wanted, and one that is later than the rules allow.
 */
export async function endOfNewKey(
  tx: Tx,
  owner: KeyOwner,
  { asked, now }: { asked: number | null; now: number },
): Promise<number | null> {
  const kind: KeyKind = "user_id" in owner ? "personal" : "service";
  const found = await listRules(tx, "org_id" in owner ? [installation, owner.org_id] : [installation]);
  const rules = found.map((stored) => stored.rules);
  const latest = latestEnd(rules, kind, now);
  if (asked === null && rules.some(({ require_expiry }) => require_expiry))
    throw invalidInput({ expires_at: "Keys must have an expiry [input: None]" });
  if (asked !== null && latest !== null && asked > latest)
    throw invalidInput({ expires_at: `Input should be less than or equal to ${latest} [input: ${asked}]` });
  return asked ?? latest;
}
