import { nilId } from "../lib/ids.ts";
import { daySeconds } from "../lib/units.ts";

/** Rules for keys and for the addresses callers have: of an organization, or of the whole installation. */

/** Kinds of keys, by who has them: people, or service accounts. */
export const keyKinds = ["personal", "service"] as const;
export type KeyKind = (typeof keyKinds)[number];

/** What an organization, or the installation, asks of keys and callers. Null: nothing. */
export interface KeyRules {
  max_key_age_days: Record<KeyKind, number | null>;
  require_expiry: boolean;
  /** Days before its end, in which the owner of a key is told. */
  warn_days: number;
  /** Days without use, after which the owner of a key is told, and the key ends `warn_days` later. */
  unused_days: number | null;
  /** Networks in CIDR notation; null: from anywhere. */
  allowed_addresses: string[] | null;
  /** Whether people come in by the sign-in provider alone, never by a session that was begun with a key. */
  sso_only: boolean;
}

export const noRules: KeyRules = {
  max_key_age_days: { personal: null, service: null },
  require_expiry: false,
  warn_days: 14,
  unused_days: null,
  allowed_addresses: null,
  sso_only: false,
};

/** Names the rules, in their order. */
export const ruleNames = Object.keys(noRules) as (keyof KeyRules)[];

export const keyRuleLimits = { days: { min: 1, max: 3650 }, warnDays: { min: 1, max: 90 }, addresses: 256 };

/** Days that keys have which were made before a rule became stricter. */
export const graceDays = 30;

/**
 * How often it is recorded that a key was used from a wrong address: once a minute for each address, and so many times in all, because whoever has
 * a key may have many addresses.
 */
export const refusalLimits = {
  address: { max: 1, windowSeconds: 60 },
  key: { max: 10, windowSeconds: 60 },
};

/** The organization that stands for the installation. Nobody has it. */
export const installation = nilId;

/** Answered to a caller with a working key or session, from an address that it does not work from. */
export const wrongAddress = "Access denied from this address";

/** Answered to somebody whose session was begun with a key, where people have to come by the sign-in provider. */
export const providerOnly = "This organization asks people to sign in at the sign-in provider";

/** The same of the whole installation, to somebody who signs in with a key. */
export const providerInstead = "People sign in at the sign-in provider here, not with keys";

/** Answered where a personal key is to be made otherwise than in a session that was begun at the provider. */
export const providerForKeys =
  "Personal keys are made in the web app, after signing in at the sign-in provider";

/** Answered where somebody is to become a user by an invitation, who could not sign in any more. */
export const providerForUsers =
  "People become users by signing in at the sign-in provider here, not by invitations";

/** Answered to somebody whose own key is older than an organization takes. */
export const tooOldHere = "This key is older than the organization allows";

function isLess(after: number | null, before: number | null): boolean {
  return after !== null && (before === null || after < before);
}

/** Rules that keys may break which kept them before: the ages of both kinds, and that keys have an end. */
export type TighteningRule = KeyKind | "expiry";

/** When each of them was last made stricter, Unix seconds; null: never. */
export type TightenedAt = Record<TighteningRule, number | null>;

export const neverTightened: TightenedAt = { personal: null, service: null, expiry: null };

/** Names the rules that keys may break now which kept them before. */
export function tightenedRules(before: KeyRules, after: KeyRules): TighteningRule[] {
  const ages = keyKinds.filter((kind) => isLess(after.max_key_age_days[kind], before.max_key_age_days[kind]));
  return after.require_expiry && !before.require_expiry ? [...ages, "expiry"] : ages;
}

/** Gives the last of these moments; null where there is none. */
export function lastTightened(tightened: TightenedAt): number | null {
  const moments = Object.values(tightened).filter((at) => at !== null);
  return moments.length === 0 ? null : Math.max(...moments);
}

/** Names the rules that differ, in their order. */
export function changedRules(before: KeyRules, after: KeyRules): string[] {
  return ruleNames.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/**
 * Gives the latest end that a key made now may have under some rules, in Unix seconds.
 * @returns null when there is none.
 */
export function latestEnd(rules: readonly KeyRules[], kind: KeyKind, now: number): number | null {
  const days = rules.map(({ max_key_age_days }) => max_key_age_days[kind]).filter((age) => age !== null);
  return days.length === 0 ? null : Math.floor(now) + Math.min(...days) * daySeconds;
}
