import { z } from "zod";

import { compileRules, type RoleRule, RoleRules } from "./domain/sign-in/role-mapping.ts";
import { flag, whole } from "./config-limits.ts";
import { isLoopbackHost } from "./lib/network.ts";
import { parseUrl } from "./lib/url.ts";
import { readYaml, type YamlValue } from "./lib/yaml.ts";

/** The OpenID provider that people sign in at. */
export interface OidcSettings {
  /** Its issuer identifier, as ID tokens name it. */
  issuer: string;
  clientId: string;
  /** Undefined for a public client. */
  clientSecret: string | undefined;
  scopes: string;
  /** Where the groups and the name of a person are: names of claims, or paths with dots. */
  groupsClaim: string;
  nameClaim: string;
  rules: readonly RoleRule[];
  /** What the provider is asked for, and `acr` in the ID token has to be one of; undefined: anything. */
  acr: readonly string[] | undefined;
  /** Seconds since the person last proved who they are there; undefined: any. */
  maxAge: number | undefined;
  /** Whether people come by it alone: pages take no key, and personal keys are made after a sign-in there. */
  isRequired: boolean;
}

/** Says whether an address may be spoken to: over TLS, or on this machine. */
export function isSafeProviderUrl(url: URL): boolean {
  if (url.protocol === "https:") return true;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return url.protocol === "http:" && isLoopbackHost(host);
}

function isSafeProvider(text: string): boolean {
  const url = parseUrl(text);
  return (
    url !== undefined && isSafeProviderUrl(url) && url.search === "" && url.hash === "" && url.username === ""
  );
}

const path = z.string().min(1).max(256);

/** The variables that name the provider. */
export const oidcVariables = {
  WAYBILL_OIDC_ISSUER: z
    .string()
    .refine(isSafeProvider, "must be a URL starting with https://, or with http:// on this machine")
    .optional(),
  WAYBILL_OIDC_CLIENT_ID: z.string().min(1).max(512).optional(),
  WAYBILL_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  WAYBILL_OIDC_SCOPES: z
    .string()
    .refine((text) => text.split(" ").includes("openid"), "must have openid among its words")
    .optional(),
  WAYBILL_OIDC_GROUPS_CLAIM: path.optional(),
  WAYBILL_OIDC_NAME_CLAIM: path.optional(),
  WAYBILL_OIDC_ROLES: z.string().optional(),
  WAYBILL_OIDC_ACR: z.string().min(1).optional(),
  WAYBILL_OIDC_MAX_AGE: whole(0, 31_536_000).optional(),
  WAYBILL_OIDC_REQUIRE: flag.optional(),
};

const Settings = z.object(oidcVariables);
type Settings = z.output<typeof Settings>;
type Variable = keyof typeof oidcVariables;

const limits = { maxLength: 262_144, maxValues: 20_000 };

function plain(value: YamlValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map ? Object.fromEntries([...value].map(([key, one]) => [key, plain(one)])) : value;
}

/** Reads the rules that give roles to groups, as YAML. @throws Error that says what is wrong. */
export function readRoleRules(text: string): RoleRule[] {
  const parsed = RoleRules.safeParse(plain(readYaml(text, limits)));
  if (parsed.success) return compileRules(parsed.data);
  const [first] = parsed.error.issues;
  const [index, ...where] = first?.path ?? [];
  const rule = typeof index === "number" ? `rule ${[index + 1, ...where].join(" ")}: ` : "";
  throw new Error(`${rule}${first?.message}`);
}

const rulesOf = ({ WAYBILL_OIDC_ROLES: text }: Settings): RoleRule[] =>
  text === undefined ? [] : readRoleRules(text);

/** What is wrong with the rules; empty for nothing. */
function rulesMistakes(set: Settings): string[] {
  try {
    rulesOf(set);
    return [];
  } catch (error) {
    return [`WAYBILL_OIDC_ROLES cannot be used: ${(error as Error).message}`];
  }
}

/** Lists what does not go together or cannot be read, a sentence each. */
export function oidcMistakes(set: Settings): string[] {
  const names = Object.keys(oidcVariables) as Variable[];
  const given = names.find((name) => set[name] !== undefined && set[name] !== false);
  if (given === undefined) return [];
  const missing = (["WAYBILL_OIDC_ISSUER", "WAYBILL_OIDC_CLIENT_ID"] as const)
    .filter((name) => set[name] === undefined)
    .map((name) => `${name} must be set, because ${given} is`);
  return [...missing, ...rulesMistakes(set)];
}

/** Reads which provider people sign in at; undefined for none. */
export function oidcConfig(set: Settings): OidcSettings | undefined {
  const { WAYBILL_OIDC_ISSUER: issuer, WAYBILL_OIDC_CLIENT_ID: clientId } = set;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: set.WAYBILL_OIDC_CLIENT_SECRET,
    scopes: set.WAYBILL_OIDC_SCOPES ?? "openid email profile",
    groupsClaim: set.WAYBILL_OIDC_GROUPS_CLAIM ?? "groups",
    nameClaim: set.WAYBILL_OIDC_NAME_CLAIM ?? "preferred_username",
    rules: rulesOf(set),
    acr: set.WAYBILL_OIDC_ACR?.split(/\s+/).filter((value) => value !== ""),
    maxAge: set.WAYBILL_OIDC_MAX_AGE,
    isRequired: set.WAYBILL_OIDC_REQUIRE ?? false,
  };
}
