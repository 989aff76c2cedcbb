import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { threadTime } from "../../../test/support/turns.ts";
import { finish } from "../../lib/steps.ts";
import { type Role, roleAllows, roles } from "../roles.ts";
import { compileRules, mapGroups, roleIn, RoleRules } from "./role-mapping.ts";

const rulesOf = (rules: unknown) => compileRules(RoleRules.parse(rules));
const map = (rules: unknown, groups: string[]) => finish(mapGroups(rulesOf(rules), groups));

describe("mapGroups", () => {
  it("gives what the rules of the example give", () => {
    const rules = [
      { group: "platform-admins", instance_admin: true },
      { group: "team-(.+)", org: "$1", role: "member" },
      { group: "auditors", org: "*", role: "reader" },
    ];
    const mapped = map(rules, ["team-blue", "team-", "my-team-red", "auditors", "x\nauditors"]);
    expect([mapped.instance_admin, [...mapped.orgs], mapped.everywhere]).toEqual([
      false,
      [["blue", "member"]],
      "reader",
    ]);
    expect(map(rules, ["platform-admins"])).toEqual({
      instance_admin: true,
      orgs: new Map(),
      everywhere: undefined,
    });
    expect(roleIn(mapped, "blue")).toBe("member");
    expect(roleIn(mapped, "green")).toBe("reader");
  });

  it("anchors every branch of a pattern", () => {
    const rules = [{ group: "a|b", org: "o", role: "reader" }];
    expect(map(rules, ["ax", "xb", "aa"]).orgs.size).toBe(0);
    expect(map(rules, ["b"]).orgs.get("o")).toBe("reader");
  });

  it("never takes the name of a group for every organization, nor for what is no name of one", () => {
    const mapped = map(
      [{ group: "(?s)team-(.+)", org: "$1", role: "admin" }],
      ["team-*", "team-a\u0000", "team--"],
    );
    expect([mapped.everywhere, mapped.orgs.size]).toEqual([undefined, 0]);
  });

  it("lets the strongest rule win, in whatever order rules and groups are, for every pair of roles", () => {
    const pairs = roles.flatMap((one) => roles.map((other) => [one, other] as const));
    for (const [one, other] of pairs) {
      const strongest: Role = roleAllows(one, other) ? one : other;
      const rules = [
        { group: "g", org: "o", role: one },
        { group: "h", org: "o", role: other },
      ];
      expect(map(rules, ["g", "h"]).orgs.get("o")).toBe(strongest);
      const everywhere = [{ ...rules[0], org: "*" }, rules[1]];
      expect(roleIn(map(everywhere, ["g", "h"]), "o")).toBe(strongest);
      expect(roleIn(map(everywhere, ["g"]), "o")).toBe(one);
    }
  });

  const group = fc.constantFrom("a", "b", "team-x", "team-y", "none", "admins");
  const rule = fc.oneof(
    fc.record({
      group: fc.constantFrom("a", "b", "team-(.+)", "team-(x)", "[ab]"),
      org: fc.constantFrom("o", "p", "*"),
      role: fc.constantFrom(...roles),
    }),
    fc.constant({ group: "admins", instance_admin: true }),
  );

  it("depends neither on order nor on repetition, and more groups or rules never give less", () => {
    fc.assert(
      fc.property(fc.array(rule), fc.array(group), rule, group, (rules, groups, more, another) => {
        const mapped = map(rules, groups);
        const mirrored = map([...rules, ...rules].toReversed(), [...groups, ...groups].toReversed());
        const wider = map([...rules, more], [...groups, another]);
        expect(mirrored.instance_admin).toBe(mapped.instance_admin);
        for (const org of ["o", "p", "q"]) {
          const role = roleIn(mapped, org);
          expect(roleIn(mirrored, org)).toBe(role);
          if (role !== undefined) expect(roleAllows(roleIn(wider, org) ?? "reader", role)).toBe(true);
          expect(role !== undefined && roleIn(wider, org) === undefined).toBe(false);
        }
        if (mapped.instance_admin) expect(wider.instance_admin).toBe(true);
      }),
    );
  });

  it("holds nothing up with 10,000 groups and patterns that would backtrack", () => {
    const groups = Array.from({ length: 10_000 }, (_, index) => `team-${"a".repeat(30)}-${index}`);
    const rules = rulesOf([{ group: "team-(a+)+-(\\d+)", org: "org-$2", role: "reader" }]);
    const steps = mapGroups(rules, groups);
    let [longest, begun] = [0, threadTime()];
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      longest = Math.max(longest, threadTime() - begun);
      begun = threadTime();
    }
    expect(longest).toBeLessThan(50);
  });
});

describe("compileRules", () => {
  it.each([
    [[{ group: "a", org: "$1", role: "reader" }], "rule 1: 'a' has no part $1"],
    [[{ group: "(a)", org: "$2", role: "reader" }], "rule 1: '(a)' has no part $2"],
    [[{ group: "(a)", org: "$0", role: "reader" }], "rule 1: '(a)' has no part $0"],
    [
      [
        { group: "ok", instance_admin: true },
        { group: "(", org: "x", role: "reader" },
      ],
      "rule 2: missing closing",
    ],
    [[{ group: "(?=a)", org: "x", role: "reader" }], "rule 1: "],
  ])("refuses %j", (rules, reason) => {
    expect(() => rulesOf(rules)).toThrow(reason);
  });
  it.each([
    { group: "a" },
    { group: "a", org: "x" },
    { group: "a", role: "reader" },
    { group: "a", org: "x", role: "owner" },
    { group: "", org: "x", role: "reader" },
    { group: "a", org: "x", role: "reader", color: "red" },
  ])("knows no rule like %j", (rule) => {
    expect(RoleRules.safeParse([rule]).success).toBe(false);
  });
});
