/** How something may be called. */
interface NameRule {
  /** What it may hold beside letters and digits, with one of which it begins. */
  signs: string;
  /** Most characters. */
  most: number;
}

/** Rules for names of what is made on pages, as the server has them; a test compares both. */
export const nameRules = {
  environment: { signs: ".-_", most: 512 },
  flow: { signs: ".-_~", most: 512 },
  organization: { signs: "-_.", most: 128 },
} as const satisfies Record<string, NameRule>;

/** What has a name of its own that is chosen on a page. */
export type NamedKind = keyof typeof nameRules;

const shown = (sign: string): string => (sign === " " ? "a blank" : `“${sign}”`);

/** Says what a name may be made of: "Letters, digits, “.”, “-” and “_”, beginning with a letter or a digit." */
export function nameWords(kind: NamedKind): string {
  const signs = Array.from(nameRules[kind].signs, shown);
  const last = signs.pop();
  return `Letters, digits, ${signs.join(", ")} and ${last}, beginning with a letter or a digit.`;
}

/** Says why something cannot be called like that; undefined where it can, and while nothing is written. */
export function nameMistake(kind: NamedKind, name: string): string | undefined {
  const { signs, most } = nameRules[kind];
  const [first] = name;
  if (first === undefined) return undefined;
  const wrong = Array.from(name).find((sign) => !/[a-zA-Z0-9]/.test(sign) && !signs.includes(sign));
  if (wrong !== undefined) return `It cannot hold ${shown(wrong)}. ${nameWords(kind)}`;
  if (!/[a-zA-Z0-9]/.test(first)) return `It begins with a letter or a digit, not with ${shown(first)}.`;
  return name.length > most ? `It has at most ${most} characters, not ${name.length}.` : undefined;
}
