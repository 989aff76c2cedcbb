/** Which groups of a sign-in provider give which roles here. */

import { RE2JS } from "re2js";
import { z } from "zod";

import type { Steps } from "../../lib/steps.ts";
import { organizationNamePattern } from "../names.ts";
import { type Role, roleAllows, roles } from "../roles.ts";

/** Most rules of a mapping, and characters of one text in it. */
const mostRules = 1000;
const longestText = 256;

/** Names of groups that are longer fit no rule. */
const longestGroup = 512;

const text = z.string().min(1).max(longestText);

const Rule = z
  .strictObject({
    group: text,
    org: text.optional(),
    role: z.enum(roles).optional(),
    instance_admin: z.literal(true).optional(),
  })
  .refine(
    ({ org, role }) => (org === undefined) === (role === undefined),
    "needs both org and role, or neither",
  )
  .refine(({ org, instance_admin }) => org !== undefined || instance_admin === true, "gives nothing");

/** Rules as they are written. */
export const RoleRules = z.array(Rule).max(mostRules);

/** One rule, ready to be used. */
export interface RoleRule {
  group: string;
  /** Undefined for a group that is named in full. */
  pattern: RE2JS | undefined;
  org: string | undefined;
  role: Role | undefined;
  instance_admin: boolean;
}

/** What a person becomes. */
export interface MappedRoles {
  instance_admin: boolean;
  /** Their role in each organization that a rule names. */
  orgs: ReadonlyMap<string, Role>;
  /** Their role in every shared organization; undefined for none. */
  everywhere: Role | undefined;
}

const literal = /^[\w ./:@-]*$/;
/** `.` stands for itself only where no pattern is meant. */
const isLiteral = (group: string): boolean => literal.test(group) && !group.includes(".");

const highestReference = 9;

function referencesOf(org: string | undefined): number[] {
  return [...(org ?? "").matchAll(/\$(\d)/g)].map(([, digit]) => Number(digit));
}

/** Compiles one rule. @throws Error that says what is wrong with it. */
function compileRule(rule: z.output<typeof Rule>): RoleRule {
  const { group, org, role, instance_admin = false } = rule;
  const pattern = isLiteral(group) ? undefined : RE2JS.compile(group);
  const most = pattern?.groupCount() ?? 0;
  const missing = referencesOf(org).find(
    (reference) => reference < 1 || reference > Math.min(most, highestReference),
  );
  if (missing !== undefined) throw new Error(`'${group}' has no part $${missing}`);
  return { group, pattern, org, role, instance_admin };
}

/** Compiles rules. @throws Error that names the first one that cannot be used, and why. */
export function compileRules(rules: z.output<typeof RoleRules>): RoleRule[] {
  return rules.map((rule, index) => {
    try {
      return compileRule(rule);
    } catch (error) {
      const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "";
      throw new Error(`rule ${index + 1}: ${reason}`, { cause: error });
    }
  });
}

/** Finds which organization a rule names for a group; undefined where it does not fit, null where it names none. */
function organizationFor({ pattern, org }: RoleRule, group: string): string | null | undefined {
  if (pattern === undefined) return org ?? null;
  const match = pattern.matcher(group);
  if (!match.matches()) return undefined;
  return org?.replaceAll(/\$(\d)/g, (_all, digit: string) => match.group(Number(digit)) ?? "") ?? null;
}

const stronger = (one: Role | undefined, other: Role): Role =>
  one !== undefined && roleAllows(one, other) ? one : other;

/** Rules that are tried between two pauses. */
const rulesAtATime = 50;

/**
 * Finds what somebody in these groups becomes. Each rule fits whole names of groups; of those that fit, the strongest wins in each
 * organization. `$1` in an organization's name is what the first part in parentheses matched.
 */
export function* mapGroups(rules: readonly RoleRule[], groups: readonly string[]): Steps<MappedRoles> {
  const orgs = new Map<string, Role>();
  let [everywhere, instance_admin, tried] = [undefined as Role | undefined, false, 0];
  const known = new Set(groups.filter((group) => group.length <= longestGroup));
  for (const rule of rules) {
    const candidates = rule.pattern === undefined ? (known.has(rule.group) ? [rule.group] : []) : known;
    for (const group of candidates) {
      tried += 1;
      if (tried % rulesAtATime === 0) yield;
      const org = organizationFor(rule, group);
      if (org === undefined) continue;
      instance_admin ||= rule.instance_admin;
      if (rule.role === undefined || org === null) continue;
      // Only a rule that says so is about all of them, never the name of a group.
      if (rule.org === "*") everywhere = stronger(everywhere, rule.role);
      else if (organizationNamePattern.test(org)) orgs.set(org, stronger(orgs.get(org), rule.role));
    }
  }
  return { instance_admin, orgs, everywhere };
}

/** Gives somebody's role in a shared organization; undefined for none. */
export function roleIn({ orgs, everywhere }: MappedRoles, org: string): Role | undefined {
  const named = orgs.get(org);
  return named === undefined ? everywhere : stronger(everywhere, named);
}
