import { readFileSync } from "node:fs";

import type { OidcSettings } from "../config-oidc.ts";
import { readConfig } from "../config.ts";
import { type Claims, groupsAt, textAt, userNameOf } from "../domain/sign-in/claims.ts";
import { mapGroups } from "../domain/sign-in/role-mapping.ts";
import { isJsonObject } from "../lib/json-object.ts";
import { finish } from "../lib/steps.ts";
import { linkIdentity } from "../modules/identity/sign-in-provider/service.ts";
import { type CommandDeps, commandActor } from "./command-deps.ts";
import { CliError, print } from "./output.ts";

function readClaims(file: string): Claims[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CliError(`${file} cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.every(isJsonObject)) return list;
  throw new CliError(`${file} must hold an object of claims, or a list of them`);
}

/** Says who somebody with these claims would become, a line for each thing. */
export function outcomeOf(
  oidc: Pick<OidcSettings, "rules" | "groupsClaim" | "nameClaim">,
  claims: Claims,
): string[] {
  const groups = groupsAt(claims, oidc.groupsClaim);
  const { instance_admin, orgs, everywhere } = finish(mapGroups(oidc.rules, groups ?? []));
  const given = [
    ...(instance_admin ? ["instance administrator"] : []),
    ...(everywhere === undefined ? [] : [`${everywhere} in every shared organization`]),
    ...[...orgs].map(([org, role]) => `${role} in ${org}`).toSorted(),
  ];
  const none = groups === undefined ? `no groups: there is no claim ${oidc.groupsClaim}` : "no membership";
  return [
    `${userNameOf(textAt(claims, oidc.nameClaim))}:`,
    ...(given.length > 0 ? given : [none]).map((line) => `  ${line}`),
  ];
}

/** Runs `waybill admin oidc test`: prints who would become what by the mapping that is set, without asking anybody. */
export function testMapping({ claims }: { claims: string }): void {
  const { oidc } = readConfig();
  if (oidc === undefined) throw new CliError("No provider is set: WAYBILL_OIDC_ISSUER names one");
  for (const person of readClaims(claims)) for (const line of outcomeOf(oidc, person)) print.line(line);
}

/** Runs `waybill admin link-identity`: says which user somebody of the provider is here. */
export async function linkIdentityCommand(deps: CommandDeps, user: string, subject: string): Promise<void> {
  const { oidc } = deps.config;
  if (oidc === undefined) throw new CliError("No provider is set: WAYBILL_OIDC_ISSUER names one");
  await linkIdentity(deps, commandActor("admin link-identity"), { issuer: oidc.issuer, subject, user });
  print.line(`Linked ${user} to the subject ${subject} of ${oidc.issuer}`);
}
