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

/** When a key may be made to end: so many days from now, or as it did before. */
export type KeyEnd = number | "kept";

const daySeconds = 86_400;
/** The clock of the server may be behind. */
const slackSeconds = 300;

const lifetimes: readonly (readonly [days: number, words: string])[] = [
  [7, "a week"],
  [30, "30 days"],
  [90, "90 days"],
  [365, "a year"],
];

const usualDays = 90;

function keptWords(
  { expires_at }: RotatedKey,
  { most_days }: EndRules,
  words: (at: number) => string,
): string {
  if (expires_at > 0) return `until ${words(expires_at)}, as before`;
  return most_days === null ? "for ever, as before" : `for the ${most_days} days that rules allow`;
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
  const fitting = lifetimes.filter(([days]) => most_days === null || days < most_days);
  const isRefused = require_expiry && key.expires_at === 0;
  return [
    ...(isRefused ? [] : [["kept", keptWords(key, rules, words)] as const]),
    ...fitting,
    ...(most_days === null || !require_expiry
      ? []
      : [[most_days, `${most_days} days, the most that rules allow`] as const]),
    ...(require_expiry || most_days !== null || key.expires_at === 0 ? [] : [[0, "for ever"] as const]),
  ];
}

/** Chooses the end that is offered first: as before, unless rules end the key for having none. */
export function usualEnd(key: RotatedKey, rules: EndRules): KeyEnd {
  const isEternal = key.expires_at === 0;
  const isEnded = rules.require_expiry || (key.deadline_at !== undefined && rules.most_days === null);
  return isEternal && isEnded ? Math.min(usualDays, rules.most_days ?? usualDays) : "kept";
}

/** Writes an end as it is sent: Unix seconds, 0 for never, undefined for the one that the key has. */
export function sentEnd(end: KeyEnd, { most_days }: EndRules, now: number): number | undefined {
  if (end === "kept") return undefined;
  if (end === 0) return 0;
  return Math.floor(now) + end * daySeconds - (end === most_days ? slackSeconds : 0);
}
