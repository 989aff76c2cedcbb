import { describe, expect, it } from "vitest";

import {
  isTooMuchTogether,
  judgingProblem,
  membersProblem,
  requireJudgeable,
  sumOfMembers,
  TooMuchToJudge,
} from "./judging.ts";
import { parsePolicy } from "./policy/parse.ts";
import { policyDump } from "./policy/print.ts";
import { countRules, sizeOfPolicy } from "./policy/size.ts";

const schema = "_schema: https://x.test/v1\n";

/** A policy with this many rules about attestations. */
function policyOf(rules: number, condition = "") {
  const rule = `{type: junit${condition === "" ? "" : `, if: "${condition}"`}}`;
  const text = `${schema}artifacts: {attestations: [${Array.from({ length: rules }, () => rule).join(",")}]}`;
  return { name: "p", policy: parsePolicy(text) };
}

describe("the size of a policy", () => {
  it("is that of its rules and exceptions, those not asked left out", () => {
    const { policy } = policyOf(3);
    expect(countRules(policy)).toBe(3);
    expect(sizeOfPolicy(policy)).toMatchObject({ rules: 3, patterns: 0, patternsOfOne: 0 });
    const booleans = parsePolicy(
      `${schema}artifacts: {provenance: {required: true, exceptions: [{if: exists(flow)}]}, trail-compliance: {required: false}}`,
    );
    expect(sizeOfPolicy(booleans).rules).toBe(2);
    expect(sizeOfPolicy(parsePolicy(schema)).rules).toBe(1);
  });

  it("is that of its text in a snapshot, too", () => {
    const condition = `flow.name == '${"x".repeat(4000)}'`;
    const { policy } = policyOf(3, condition);
    expect(sizeOfPolicy(policy).printed).toBe(JSON.stringify(policyDump(policy)).length);
    expect(sizeOfPolicy(policy).printed).toBeGreaterThan(12_000);
  });

  it("counts long conditions and regular expressions", () => {
    const long = Array.from({ length: 100 }, () => "flow.name == 'abc'").join(" or ");
    expect(sizeOfPolicy(policyOf(1, long).policy).rules).toBe(1 + Math.floor(long.length / 1000));
    expect(sizeOfPolicy(policyOf(2, "matches(flow.name, 'x{100}')").policy).patterns).toBeGreaterThan(200);
  });
});

describe("what members of a logical environment run", () => {
  const most = { artifacts: 100_000, instances: 250_000, bytes: 67_108_864 };

  it("can be put together up to limits", () => {
    expect(membersProblem(most)).toBeUndefined();
    expect(membersProblem(sumOfMembers([]))).toBeUndefined();
  });

  it.each([
    ["artifacts", "100001 artifacts, more than the 100000"],
    ["instances", "250001 instances, more than the 250000"],
    ["bytes", "instances of 67108865 bytes, more than the 67108864"],
  ] as const)("cannot with one of the %s more", (kind, problem) => {
    const one = { artifacts: 0, instances: 0, bytes: 0, [kind]: 1 };
    expect(membersProblem(sumOfMembers([most, one]))).toBe(
      `its members run ${problem} that are possible at once`,
    );
  });
});

describe("what can be judged at once", () => {
  it("are ten thousand artifacts of two flows each under fifty rules", () => {
    const policies = [policyOf(50)];
    expect(judgingProblem({ policies, facts: 20_000, mostFlows: 2, names: 800_000 })).toBeUndefined();
    expect(judgingProblem({ policies, facts: 20_001 })).toBe(
      "50 rules times 20001 artifacts times flows are 1000050, more than the 1000000 that are possible at once",
    );
  });

  it("are not too many rules, whatever runs", () => {
    const large = {
      name: "large",
      policy: parsePolicy(
        `${schema}artifacts: {attestations: [&r {type: junit}${",*r".repeat(3899)}]}`,
        "stored",
      ),
    };
    expect(judgingProblem({ policies: [policyOf(2), large], facts: 0 })).toBe(
      "policy 'large' has 3900 rules, more than 500: detach it, or give it a shorter version",
    );
  });

  it.each([
    [
      { policies: [], facts: 100_001 },
      "its artifacts times flows are 100001, more than the 100000 that are possible at once",
    ],
    [
      { policies: [policyOf(1)], facts: 10_001, mostFlows: 10_001 },
      /flows of one of its artifacts are 10001/,
    ],
    [
      { policies: [policyOf(500)], facts: 500, mostFlows: 101 },
      /500 rules times 101 flows of an artifact are 50500/,
    ],
    [
      { policies: [policyOf(20, "matches(artifact.name, 'x{900}')")], facts: 2000, names: 2000 * 4096 },
      /regular expressions/,
    ],
    [
      {
        policies: [policyOf(2, "matches(artifact.name, 'x{900}')")],
        facts: 1,
        names: 4096,
        longestName: 4096,
      },
      /regular expressions of one of its rules times the longest name .* are \d+, more than the 2100000/,
    ],
  ])("are not %j", (size, problem) => {
    expect(judgingProblem(size)).toMatch(problem);
    expect(() => requireJudgeable("prod", size)).toThrow(TooMuchToJudge);
  });
});

describe("what environments are together", () => {
  const long = policyOf(15, `flow.name == '${"x".repeat(4000)}'`);
  const regular = policyOf(20, "matches(artifact.name, 'x{900}')");
  const { patterns } = sizeOfPolicy(regular.policy);
  const printed = sizeOfPolicy(long.policy).printed;

  it.each([
    ["artifacts times flows", { policies: [], facts: 50_000 }, 2],
    ["rules times those", { policies: [policyOf(200)], facts: 5000 }, 1],
    ["rules times those of smaller ones", { policies: [policyOf(50)], facts: 1000 }, 20],
    [
      "instructions times characters",
      { policies: [regular], facts: 1, names: Math.floor(2_500_000_000 / patterns) },
      2,
    ],
    [
      "characters of policies that are written",
      { policies: Array.from({ length: 100 }, () => long), facts: 1 },
      Math.floor((64 * 1024 * 1024) / (100 * printed)),
    ],
  ])("is bounded as one is, by %s", (_, size, most) => {
    expect(judgingProblem(size)).toBeUndefined();
    const together = (count: number) => isTooMuchTogether(Array.from({ length: count }, () => size));
    expect([together(most), together(most + 1)]).toEqual([false, true]);
  });

  it("says nothing of one, which is bounded otherwise, and of none", () => {
    expect(isTooMuchTogether([{ policies: [policyOf(500)], facts: 100_000 }])).toBe(false);
    expect(isTooMuchTogether([])).toBe(false);
  });
});
