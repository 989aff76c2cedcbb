import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { roleAllows } from "../../src/domain/roles.ts";
import { alreadyMember, refusal, roles, roleUnknown } from "./roles.ts";

const role = fc.constantFrom(...roles);

describe("what is refused to whom", () => {
  it("is what the server refuses, and says what it needs", () => {
    fc.assert(
      fc.property(role, role, (need, own) => {
        const words = refusal(need, own);
        expect(words === undefined).toBe(roleAllows(own, need));
        if (words !== undefined) expect(words).toBe(`You are ${own} here; this needs ${need}`);
      }),
    );
  });

  it("is open to strangers only where everybody may", () => {
    for (const need of roles) expect(refusal(need, undefined)).toContain("Sign in");
    for (const need of ["anybody", "public", "user", "site"] as const)
      for (const own of [...roles, undefined, null]) expect(refusal(need, own)).toBeUndefined();
    for (const own of [...roles, undefined]) expect(refusal("instance_admin", own)).toContain("installation");
  });

  it("is not told before it is known who asks", () => {
    for (const need of [...roles, "instance_admin"] as const) expect(refusal(need, null)).toBe(roleUnknown);
  });
});

describe("who is a member already", () => {
  const members = [
    { user: "ann", role: "admin" },
    { user: "ann.b", role: "reader" },
  ] as const;

  it("is told with the role, by the whole name alone", () => {
    expect(alreadyMember(members, "ann")).toBe("ann is a member already, as admin");
    expect(alreadyMember(members, "ann.b")).toBe("ann.b is a member already, as reader");
    for (const other of ["", "an", "Ann", "ann."]) expect(alreadyMember(members, other)).toBeUndefined();
  });
});
