/** Rules as they stand in the fields of a form: days as text, addresses a line each. */
export interface RuleDraft {
  personal: string;
  service: string;
  requireExpiry: boolean;
  warn: string;
  unused: string;
  addresses: string;
  ssoOnly: boolean;
}

/** What is sent of rules. */
interface Rules {
  max_key_age_days: { personal: number | null; service: number | null };
  require_expiry: boolean;
  warn_days: number;
  unused_days: number | null;
  allowed_addresses: string[] | null;
  sso_only: boolean;
}

/** A rule that two sets of rules differ in, as the form calls it, and what one of them says. */
interface DifferentRule {
  label: string;
  value: string;
}

const daysWords = (days: number | null): string => (days === null ? "no limit" : String(days));
const whether = (isSo: boolean): string => (isSo ? "yes" : "no");

/** What rules are called in the form, with what they say. */
const shown: readonly (readonly [label: string, value: (rules: Rules) => string])[] = [
  ["Oldest service account key, in days", (rules) => daysWords(rules.max_key_age_days.service)],
  ["Oldest personal key, in days", (rules) => daysWords(rules.max_key_age_days.personal)],
  ["End keys not used for, in days", (rules) => daysWords(rules.unused_days)],
  ["Tell owners before an end, in days", (rules) => String(rules.warn_days)],
  ["Keys must have an end", (rules) => whether(rules.require_expiry)],
  ["Addresses they come from", (rules) => rules.allowed_addresses?.join(", ") ?? "from anywhere"],
  ["People sign in at the sign-in provider", (rules) => whether(rules.sso_only)],
];

/** Lists in what rules differ from those before, and what they say. */
export function differentRules(before: Rules, now: Rules): DifferentRule[] {
  return shown
    .map(([label, value]) => ({ label, before: value(before), value: value(now) }))
    .filter((each) => each.before !== each.value)
    .map(({ label, value }) => ({ label, value }));
}

const daysText = (days: number | null): string => (days === null ? "" : String(days));
const daysOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

/** Writes rules into the fields of a form. */
export function ruleDraft(rules: Rules): RuleDraft {
  return {
    personal: daysText(rules.max_key_age_days.personal),
    service: daysText(rules.max_key_age_days.service),
    requireExpiry: rules.require_expiry,
    warn: String(rules.warn_days),
    unused: daysText(rules.unused_days),
    addresses: (rules.allowed_addresses ?? []).join("\n"),
    ssoOnly: rules.sso_only,
  };
}

/** Reads networks and addresses, separated by blanks, commas or lines. */
export function addressList(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== "");
}

/** What the server allows and supposes (`src/domain/key-rules.ts`). */
export const ruleLimits = { mostDays: 3650, mostWarning: 90, usualWarning: 14, mostAddresses: 256 } as const;

/** Reads the rules from the fields of a form. */
export function rulesOfDraft(draft: RuleDraft): Rules {
  const addresses = addressList(draft.addresses);
  return {
    max_key_age_days: { personal: daysOf(draft.personal), service: daysOf(draft.service) },
    require_expiry: draft.requireExpiry,
    warn_days: daysOf(draft.warn) ?? ruleLimits.usualWarning,
    unused_days: daysOf(draft.unused),
    allowed_addresses: addresses.length === 0 ? null : addresses,
    sso_only: draft.ssoOnly,
  };
}

/** Gives what is wrong with a list of addresses, or with the first wrong one of them. */
export function addressesOf(
  error: Error,
  wrongField: (error: Error, name: string) => string | undefined,
): string | undefined {
  const names = Array.from(
    { length: ruleLimits.mostAddresses },
    (_each, index) => `allowed_addresses[${index}]`,
  );
  for (const name of ["allowed_addresses", ...names]) {
    const wrong = wrongField(error, name);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
