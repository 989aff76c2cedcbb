import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { mistakesOf } from "../test/support/config.ts";
import { readConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-oidc-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const provider = { WAYBILL_OIDC_ISSUER: "https://login.example", WAYBILL_OIDC_CLIENT_ID: "waybill" };

describe("the settings of a sign-in provider", () => {
  it("have defaults", () => {
    expect(readConfig(provider).oidc).toEqual({
      issuer: "https://login.example",
      clientId: "waybill",
      clientSecret: undefined,
      scopes: "openid email profile",
      groupsClaim: "groups",
      nameClaim: "preferred_username",
      rules: [],
      acr: undefined,
      maxAge: undefined,
      isRequired: false,
    });
  });

  it("may make it the only way in for people, which needs one", () => {
    const required = { WAYBILL_OIDC_REQUIRE: "1" };
    expect(readConfig({ ...provider, ...required }).oidc?.isRequired).toBe(true);
    expect(mistakesOf(required)).toEqual([
      "WAYBILL_OIDC_ISSUER must be set, because WAYBILL_OIDC_REQUIRE is",
      "WAYBILL_OIDC_CLIENT_ID must be set, because WAYBILL_OIDC_REQUIRE is",
    ]);
    expect(mistakesOf({ WAYBILL_OIDC_REQUIRE: "0" })).toEqual([]);
    expect(mistakesOf({ ...provider, WAYBILL_OIDC_REQUIRE: "yes" })).toHaveLength(1);
  });

  it("may be in files", () => {
    const { oidc } = readConfig({
      ...provider,
      WAYBILL_OIDC_CLIENT_SECRET_FILE: file("secret", "of the client\n"),
      WAYBILL_OIDC_ROLES_FILE: file("roles.yaml", "- {group: 'team-(.+)', org: $1, role: reader}\n"),
      WAYBILL_OIDC_ACR: "urn:one  urn:two",
      WAYBILL_OIDC_MAX_AGE: "0",
    });
    expect(oidc).toMatchObject({ clientSecret: "of the client", acr: ["urn:one", "urn:two"], maxAge: 0 });
    expect(oidc?.rules).toMatchObject([{ group: "team-(.+)", org: "$1", role: "reader" }]);
  });

  it.each([
    "http://127.0.0.1:9000",
    "http://localhost/realms/x",
    "http://[::1]:1",
    "https://10.0.0.1/tenant",
  ])("name an issuer such as %s", (WAYBILL_OIDC_ISSUER) =>
    expect(mistakesOf({ ...provider, WAYBILL_OIDC_ISSUER })).toEqual([]),
  );

  it.each([
    "http://login.example",
    "http://127.evil.example",
    "http://10.0.0.1",
    "login.example",
    "https://login.example/?a=b",
    "https://user@login.example",
    "file:///etc/passwd",
  ])("name no issuer such as %s", (WAYBILL_OIDC_ISSUER) =>
    expect(mistakesOf({ ...provider, WAYBILL_OIDC_ISSUER })).toEqual([
      "WAYBILL_OIDC_ISSUER must be a URL starting with https://, or with http:// on this machine",
    ]),
  );

  it.each<[Record<string, string>, string]>([
    [{ WAYBILL_OIDC_CLIENT_ID: "x" }, "WAYBILL_OIDC_ISSUER must be set, because WAYBILL_OIDC_CLIENT_ID is"],
    [
      { WAYBILL_OIDC_ISSUER: "https://a.example" },
      "WAYBILL_OIDC_CLIENT_ID must be set, because WAYBILL_OIDC_ISSUER is",
    ],
    [{ ...provider, WAYBILL_OIDC_SCOPES: "email" }, "WAYBILL_OIDC_SCOPES must have openid among its words"],
    [
      { ...provider, WAYBILL_OIDC_ROLES: "- {group: a}" },
      "WAYBILL_OIDC_ROLES cannot be used: rule 1: gives nothing",
    ],
    [
      { ...provider, WAYBILL_OIDC_ROLES: "- {group: a, org: $1, role: reader}" },
      "WAYBILL_OIDC_ROLES cannot be used: rule 1: 'a' has no part $1",
    ],
    [
      { ...provider, WAYBILL_OIDC_CLIENT_SECRET: "a", WAYBILL_OIDC_CLIENT_SECRET_FILE: file("s", "b") },
      "WAYBILL_OIDC_CLIENT_SECRET and WAYBILL_OIDC_CLIENT_SECRET_FILE are both set: one of them must go",
    ],
  ])("have mistakes that are told: %j", (environment, mistake) =>
    expect(mistakesOf(environment)).toEqual([mistake]),
  );

  it("have to be readable", () => {
    const WAYBILL_OIDC_ROLES_FILE = join(folder, "missing");
    expect(mistakesOf({ ...provider, WAYBILL_OIDC_ROLES_FILE })[0]).toMatch(
      /^WAYBILL_OIDC_ROLES_FILE cannot be read: ENOENT/,
    );
  });
});
