import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parsePolicy } from "../../src/domain/policy/parse.ts";
import {
  flowIs,
  flowTagged,
  nameBegins,
  type PolicyRule,
  policyStart,
  withRule,
} from "../../web/domain/policy-rules.ts";

const head = "_schema: https://x.test/v1\n";
const texts = [
  head,
  policyStart,
  `${head}artifacts:\n    attestations:\n    - type: snyk\n      name: scan\n\n# the end\n`,
  `artifacts:\n  trail-compliance:\n    exceptions:\n      - if: \${{ exists(flow) }}\n    required: false\n${head}`,
  `${head}artifacts:\n  provenance:\n    required: true # always`,
];

const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() === text);
const key = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const condition = fc.option(
  fc.oneof(
    word.map(nameBegins),
    word.map(flowIs),
    key.map(flowTagged),
    fc.tuple(key, word).map(([name, value]) => flowTagged(`${name}: ${value}`)),
  ),
  { nil: undefined },
);
const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("provenance" as const, "trail-compliance" as const),
    except: condition,
  }),
  fc.record({
    kind: fc.constant("attestation" as const),
    type: fc.constantFrom("junit", "snyk", "custom:coverage"),
    name: fc.option(word, { nil: undefined }),
    onlyIf: condition,
    isEnough: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("attestation" as const),
    type: fc.constant("decision"),
    for_control: fc.constantFrom("CC-7.1", "RCTL-0042"),
    onlyIf: condition,
  }),
);

describe("a rule that the form of the web app writes", () => {
  it("is in the policy that the server reads, beside all that was there", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(rule, { minLength: 1, maxLength: 4 }),
        (text, rules) => {
          let written = text;
          for (const one of rules) {
            const before = parsePolicy(written).artifacts;
            written = withRule(written, one)!;
            const { artifacts } = parsePolicy(written);
            if (one.kind === "attestation") {
              expect(artifacts.attestations.slice(0, -1)).toEqual(before.attestations);
              expect(artifacts.attestations.at(-1)).toMatchObject({
                type: one.type,
                name: one.name ?? "*",
                for_control: one.for_control ?? null,
                must_be_compliant: one.isEnough !== true,
              });
              expect(artifacts.attestations.at(-1)?.condition?.text).toBe(one.onlyIf);
            } else {
              const [now, was] =
                one.kind === "provenance"
                  ? [artifacts.provenance, before.provenance]
                  : [artifacts.trail_compliance, before.trail_compliance];
              expect(now.required).toBe(true);
              const exceptions = [...was.exceptions.map((each) => each?.text), ...(one.except === undefined ? [] : [one.except])]; // prettier-ignore
              expect(now.exceptions.map((each) => each?.text)).toEqual(exceptions);
            }
          }
          for (const line of text.split("\n").filter((one) => one.includes("#")))
            expect(written).toContain(line);
        },
      ),
    );
  });

  it.each([
    "",
    policyStart.replace(/artifacts[\s\S]*/, "artifacts:\n  # nothing yet\n"),
    `${head}artifacts:`,
  ])("makes a policy of %j", (text) => {
    const written = withRule(text === "" ? head : text, { kind: "trail-compliance" });
    expect(parsePolicy(written!).artifacts.trail_compliance.required).toBe(true);
  });

  it.each([
    `${head}artifacts: {}\n`,
    `${head}artifacts: {attestations: []}\n`,
    `${head}artifacts:\n  attestations: [{type: snyk}]\n`,
  ])("is not put into %j, which only its author can add to", (text) => {
    expect(withRule(text, { kind: "attestation", type: "junit" })).toBeUndefined();
  });
});
