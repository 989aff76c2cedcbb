import { expect, it } from "vitest";

import { threadTime } from "../../../../test/support/turns.ts";
import { parsePolicy } from "../parse.ts";
import { ruleEvaluator } from "./rules.ts";

it("pauses after each flow whose name is matched", () => {
  // Each character may be one that the pattern goes on after, so each name takes states that no name before it has had.
  const condition = String.raw`matches(flow.name, '(?:.*a.{0,900})[^\\w-]')`;
  const policy = parsePolicy(
    `_schema: https://x.test/v1\nartifacts: {attestations: [{type: junit, if: "${condition.replaceAll("\\", "\\\\")}"}]}`,
  );
  const flows = Array.from({ length: 40 }, (_, index) => {
    const letters = Array.from({ length: 250 }, (_each, at) => ((at * at * (index + 3)) % 7 < 3 ? "a" : "b"));
    return {
      flow_name: `${index}${letters.join("")}`,
      trail_name: "run",
      tags: {},
      artifact_status: "COMPLIANT" as const,
      attestations: [],
    };
  });
  const steps = ruleEvaluator(policy)({ name: "web", fingerprint: "", allow_listed: false, flows });
  let [longest, begun, count] = [0, threadTime(), 0];
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    longest = Math.max(longest, threadTime() - begun);
    begun = threadTime();
    count += 1;
  }
  expect(count).toBeGreaterThanOrEqual(flows.length);
  expect(longest).toBeLessThan(50);
});
