/** What a sign-in provider says of a person, and what we make of it. */

import {
  displayNameLength,
  organizationNameLength,
  organizationNamePattern,
  reservedNames,
} from "../names.ts";

/** The statements about a person, by name. */
export type Claims = Readonly<Record<string, unknown>>;

/** Most groups of one person that are looked at. */
const mostGroups = 10_000;

const longestEmail = 320;

/**
 * Reads a claim by its name, or by a path with dots through objects; undefined where there is none. A name with dots in it goes
 * before a path.
 */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** Reads the groups of a claim: a list of texts, or one text. Undefined where the claim is missing. */
export function groupsAt(claims: Claims, path: string): string[] | undefined {
  const value = claimAt(claims, path);
  if (value === undefined || value === null) return undefined;
  const list: unknown[] = Array.isArray(value) ? value.slice(0, mostGroups) : [value];
  return list.filter((one) => typeof one === "string");
}

/** Reads a text of a claim without what cannot be shown or kept; undefined for none. */
export function textAt(claims: Claims, path: string): string | undefined {
  const value = claimAt(claims, path);
  if (typeof value !== "string") return undefined;
  const clean = value
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "")
    .trim();
  return clean === "" ? undefined : clean.slice(0, displayNameLength).toWellFormed();
}

/** Reads the mail address that the provider has verified; undefined for none. */
export function verifiedEmail(claims: Claims): string | undefined {
  const email = claims["email"];
  if (claims["email_verified"] !== true || typeof email !== "string" || email.length > longestEmail)
    return undefined;
  return /^[^\s@<>\p{Cc}]+@[^\s@<>\p{Cc}]+$/u.test(email) ? email : undefined;
}

const fallbackName = "user";

/** Cuts a name so that something can follow it. */
function cut(name: string, suffix: string): string {
  return name.slice(0, organizationNameLength.max - suffix.length) + suffix;
}

/**
 * Makes the user name wanted by somebody: of a mail address what is before `@`, with `-` for characters that names here do not have.
 */
export function userNameOf(claimed: string | undefined): string {
  const [local = ""] = (claimed ?? "").split("@", 1);
  const name = local
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-zA-Z0-9\-_.]+/g, "-")
    .replace(/^[^a-zA-Z0-9]+/, "")
    .slice(0, organizationNameLength.max)
    .replace(/-+$/, "");
  return organizationNamePattern.test(name) ? name : fallbackName;
}

/** Gives the names to try, one after the other: the wanted one, then with `-2`, `-3` and so on behind it. */
export function* namesLike(wanted: string): Generator<string, never> {
  if (!reservedNames.has(wanted)) yield wanted;
  for (let number = 2; ; number += 1) yield cut(wanted, `-${number}`);
}
