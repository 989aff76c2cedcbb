import { describe, expect, it } from "vitest";

import { evaluateArtifact } from "../../../test/support/policy-verdicts.ts";
import { parsePolicy } from "../policy/parse.ts";
import { decisionsOf, parseDecisions, printWithoutRules, RuleBook, rulesIn } from "./decisions.ts";
import { flowMark } from "./print.ts";

const policy = parsePolicy(`_schema: https://waybill.test/v1
artifacts:
  provenance: {required: true}
  attestations:
    - {name: scan, type: snyk}
    - {name: unit, type: junit, if: "artifact.name != '\\\\u0003 \\"\\\\u0003\\":7'"}
`);
const flows = ["ci", "cd"].map((flow_name) => ({
  flow_name,
  trail_name: "run",
  tags: {},
  artifact_status: "COMPLIANT" as const,
  attestations: [],
}));
const places = flows.map(({ flow_name, trail_name }) =>
  JSON.stringify({ flow_name, trail_name }).slice(1, -1),
);

/** What was decided on an artifact with these flows, and the text that is stored of it. */
function decided(known: typeof flows) {
  const subject = { name: "web", fingerprint: "f", allow_listed: false, flows: known };
  const { policy_decisions } = evaluateArtifact(subject, [{ id: "1", name: "p q", version: 2, policy }]);
  const text = places.reduce(
    (json, place, at) => json.replaceAll(place, flowMark + at + flowMark),
    JSON.stringify(policy_decisions),
  );
  return { policy_decisions, text };
}

describe("decisions", () => {
  it("are read as they were, flow by flow", () => {
    const { policy_decisions, text } = decided(flows);
    expect(decisionsOf(parseDecisions(text), places)).toEqual(policy_decisions);
    expect(JSON.stringify(decisionsOf(parseDecisions(text), places))).toBe(JSON.stringify(policy_decisions));
    const without = decided([]);
    expect(decisionsOf(parseDecisions(without.text), [])).toEqual(without.policy_decisions);
  });

  it("refer to rules by their index where rules are said once", () => {
    const { policy_decisions, text } = decided(flows);
    const shared = parseDecisions(text);
    const brief = printWithoutRules(shared).split(flowMark);
    const printed = brief.map((part, at) => (at % 2 === 0 ? part : places[Number(part)])).join("");
    const book = new RuleBook();
    book.add(rulesIn(shared));
    book.add(rulesIn(shared));
    const { rules } = book;
    const [first] = book.share(parseDecisions(text));
    expect(first!.rule_evaluations[1]!.rule).toBe(rules[1]!.rule);
    expect(decisionsOf(book.share(shared), places)).toEqual(policy_decisions);
    expect(
      rules.map(({ policy_name, policy_version, rule_index }) => [policy_name, policy_version, rule_index]),
    ).toEqual([0, 1, 2, 3].map((index) => ["p q", 2, index]));
    const restored = JSON.parse(printed).map(
      ({ rule_evaluations, ...decision }: { rule_evaluations: [] }) => ({
        ...decision,
        rule_evaluations: rule_evaluations.map(({ rule_index, ...evaluation }: { rule_index: number }) => ({
          rule: rules[rule_index]!.rule,
          ...evaluation,
        })),
      }),
    );
    expect(restored).toEqual(policy_decisions);
  });
});
