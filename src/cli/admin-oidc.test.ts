import { expect, it } from "vitest";

import { readRoleRules } from "../config-oidc.ts";
import { outcomeOf } from "./admin-oidc.ts";

it("tells who somebody would become", () => {
  const rules = readRoleRules(`
- {group: root, instance_admin: true}
- {group: "team-(.+)", org: "$1", role: member}
- {group: auditors, org: "*", role: reader}`);
  const oidc = { rules, groupsClaim: "realm.groups", nameClaim: "preferred_username" };
  const person = { preferred_username: "ann@example.org" };
  expect(outcomeOf(oidc, { ...person, realm: { groups: ["team-b", "team-a", "auditors", "root"] } })).toEqual(
    [
      "ann:",
      "  instance administrator",
      "  reader in every shared organization",
      "  member in a",
      "  member in b",
    ],
  );
  expect(outcomeOf(oidc, { ...person, realm: { groups: ["other"] } })).toEqual(["ann:", "  no membership"]);
  expect(outcomeOf(oidc, person)).toEqual(["ann:", "  no groups: there is no claim realm.groups"]);
});
