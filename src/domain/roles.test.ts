import { describe, expect, it } from "vitest";

import { roleAllows, roles } from "./roles.ts";

describe("roleAllows", () => {
  const strength = { reader: 0, snapshotter: 1, member: 2, admin: 3 };

  it.each(roles.flatMap((role) => roles.map((needed) => [role, needed] as const)))(
    "%s for what asks for %s",
    (role, needed) => expect(roleAllows(role, needed)).toBe(strength[role] >= strength[needed]),
  );

  it("knows four roles", () => expect([...roles].sort()).toEqual(Object.keys(strength).sort()));
});
