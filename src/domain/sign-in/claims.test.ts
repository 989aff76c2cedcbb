import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { organizationNameLength, organizationNamePattern, reservedNames } from "../names.ts";
import { claimAt, groupsAt, namesLike, textAt, userNameOf, verifiedEmail } from "./claims.ts";

describe("claimAt", () => {
  it("follows names and paths, and nothing that objects have by nature", () => {
    const claims = { a: { b: { c: 1 } }, "x.y": 2, x: { y: 3 } };
    expect([claimAt(claims, "a.b.c"), claimAt(claims, "x.y"), claimAt(claims, "a.z")]).toEqual([
      1,
      2,
      undefined,
    ]);
    expect(
      ["constructor", "a.__proto__", "a.b.toString", "a.b.c.d"].map((path) => claimAt(claims, path)),
    ).toEqual(Array(4).fill(undefined));
  });
});

describe("groupsAt", () => {
  it("takes a list or one text, and tells no groups from no claim", () => {
    expect(groupsAt({ groups: ["a", 1, null, "b"] }, "groups")).toEqual(["a", "b"]);
    expect(groupsAt({ groups: "a" }, "groups")).toEqual(["a"]);
    expect(groupsAt({ realm: { roles: [] } }, "realm.roles")).toEqual([]);
    expect(groupsAt({}, "groups")).toBeUndefined();
    expect(groupsAt({ groups: Array(20_000).fill("a") }, "groups")).toHaveLength(10_000);
  });
});

describe("verifiedEmail", () => {
  it("believes no address that the provider does not vouch for", () => {
    expect(verifiedEmail({ email: "a@b.c", email_verified: true })).toBe("a@b.c");
    for (const email_verified of [false, undefined, "true", 1])
      expect(verifiedEmail({ email: "a@b.c", email_verified })).toBeUndefined();
    for (const email of ["a b@c", "a\u0000@b.c", "a", 1])
      expect(verifiedEmail({ email, email_verified: true })).toBeUndefined();
  });
});

describe("names", () => {
  it.each([
    ["ann", "ann"],
    ["Ann.Lee@example.org", "Ann.Lee"],
    ["José García", "Jose-Garcia"],
    ["DOMAIN\\bob", "DOMAIN-bob"],
    ["--x--", "x"],
    ["日本", "user"],
    [undefined, "user"],
    ["", "user"],
  ])("makes of %j %j", (claimed, name) => expect(userNameOf(claimed)).toBe(name));

  it("are names by our rules, all different, and none that is reserved", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constantFrom(...reservedNames)),
        (claimed) => {
          const names: string[] = [];
          for (const name of namesLike(userNameOf(claimed))) if (names.push(name) === 12) break;
          expect(new Set(names).size).toBe(12);
          for (const name of names) {
            expect(name).toMatch(organizationNamePattern);
            expect(name.length).toBeLessThanOrEqual(organizationNameLength.max);
            expect(reservedNames.has(name)).toBe(false);
          }
        },
      ),
    );
  });

  it("are shown without what cannot be kept", () => {
    expect(textAt({ name: " A\u0000\nB " }, "name")).toBe("AB");
    expect(textAt({ name: "\u0000" }, "name")).toBeUndefined();
    expect(textAt({ name: "x".repeat(1000) }, "name")).toHaveLength(256);
  });
});
