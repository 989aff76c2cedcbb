import { daySeconds } from "./times.ts";

/** What decides when the new secret of a key may end. */
export interface RotatedKey {
  /** Unix seconds; 0 for never. */
  expires_at: number;
  /** When rules end it. */
  deadline_at?: number | undefined;
}

/** What rules ask of the ends of keys. */
export interface EndRules {
  require_expiry: boolean;
  /** Null for no limit. */
  most_days: number | null;
}

/** What is asked where no rules are known. */
export const noEndRules: EndRules = { require_expiry: false, most_days: null };

/** When a key may be made to end: so many days from now, or as it did before. */
export type KeyEnd = number | "kept";

/** The clock of the server may be behind. */
const slackSeconds = 300;

const lifetimes: readonly (readonly [days: number, words: string])[] = [
  [7, "a week"],
  [30, "30 days"],
  [90, "90 days"],
  [365, "a year"],
];

const usualDays = 90;

const fitting = (most: number | null) => lifetimes.filter(([days]) => most === null || days < most);
const forTheMost = (days: number): string => `for the ${days} days that rules allow`;
const theMost = (days: number): string => `${days} days, the most that rules allow`;

function keptWords(
  { expires_at }: RotatedKey,
  { most_days }: EndRules,
  words: (at: number) => string,
): string {
  if (expires_at > 0) return `until ${words(expires_at)}, as before`;
  return most_days === null ? "for ever, as before" : forTheMost(most_days);
}

/**
 * Lists the ends that a rotated key may be given, with words for each; all of them are valid by the rules that are known.
 * @param words writes a moment.
 */
export function endChoices(
  key: RotatedKey,
  rules: EndRules,
  words: (at: number) => string,
): (readonly [KeyEnd, string])[] {
  const { require_expiry, most_days } = rules;
  const isRefused = require_expiry && key.expires_at === 0;
  return [
    ...(isRefused ? [] : [["kept", keptWords(key, rules, words)] as const]),
    ...fitting(most_days),
    ...(most_days === null || !require_expiry ? [] : [[most_days, theMost(most_days)] as const]),
    ...(require_expiry || most_days !== null || key.expires_at === 0 ? [] : [[0, "for ever"] as const]),
  ];
}

/** Lists the ends that a new key may be given, in days, 0 for no end of its own, with words for each; the last is the latest. */
export function newEndChoices({ require_expiry, most_days }: EndRules): (readonly [number, string])[] {
  const without = most_days === null ? "for ever" : forTheMost(most_days);
  const latest = most_days === null ? [] : [[most_days, theMost(most_days)] as const];
  return [...fitting(most_days), ...(require_expiry ? latest : [[0, without] as const])];
}

/** Chooses the end of a new key that is offered first, in days: the usual one, or the latest that rules allow. */
export function usualNewEnd(rules: EndRules): number {
  const days = newEndChoices(rules).map(([each]) => each);
  return days.includes(usualDays) ? usualDays : (days.at(-1) ?? usualDays);
}

/** Chooses the end that is offered first: as before, unless rules end the key for having none. */
export function usualEnd(key: RotatedKey, rules: EndRules): KeyEnd {
  const isEternal = key.expires_at === 0;
  const isEnded = rules.require_expiry || (key.deadline_at !== undefined && rules.most_days === null);
  return isEternal && isEnded ? Math.min(usualDays, rules.most_days ?? usualDays) : "kept";
}

/** Writes an end that is so many days from now as it is sent: Unix seconds, 0 for never. */
export function sentEnd(end: number, { most_days }: EndRules, now: number): number {
  if (end === 0) return 0;
  return Math.floor(now) + end * daySeconds - (end === most_days ? slackSeconds : 0);
}
