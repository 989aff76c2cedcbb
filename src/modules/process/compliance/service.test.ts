import { describe, expect, it } from "vitest";

import { attestation } from "../../../../test/support/compliance.ts";
import { finish } from "../../../lib/steps.ts";
import { judgeCases, type JudgedCase } from "./service.ts";
import { writeVerdicts } from "./store.ts";

function uuid(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

/** A trail on which reports wait for a number of names each. */
function caseOf(number: number, names: number): JudgedCase {
  const attestations = Array.from({ length: 20 }, (_, at) =>
    attestation("unit", "junit", {
      attestation_id: uuid(at),
      git_commit: `c${at}`,
      target_artifacts: Array.from({ length: names }, (_value, index) => `"${at}-${index}😀`),
    }),
  );
  return {
    trail_id: uuid(number),
    template: "version: 1\ntrail:\n  attestations:\n    - name: ticket\n      type: jira\n",
    template_id: uuid(1),
    last_modified_at: 5,
    evaluated_at: null,
    own_digest: null,
    artifacts: [],
    attestations,
  };
}

/** Counts the turns that others get while something is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let going = true;
  const count = (): void => {
    turns += 1;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  await work();
  going = false;
  return turns;
}

describe("judging trails", () => {
  it("lets others in between when there is much to judge, and only then", async () => {
    const judge = (cases: JudgedCase[]) => () => judgeCases("org", cases, { kind: "trail" });
    // Its template is known from then on, and nothing else has to be waited for.
    await judge([caseOf(1, 1)])();
    expect(await turnsDuring(judge([caseOf(1, 1)]))).toBe(0);
    const many = Array.from({ length: 10 }, (_, number) => caseOf(number, 1000));
    // At least ten milliseconds a trail, on any machine there is, and a few turns after each.
    expect(await turnsDuring(judge(many))).toBeGreaterThanOrEqual(10);
  });

  it("comes to the same for each trail, however many there are", async () => {
    const cases = Array.from({ length: 5 }, (_, number) => caseOf(number, 30 * number));
    const together = await judgeCases("org", cases, { kind: "trail" });
    const alone = await Promise.all(cases.map((one) => judgeCases("org", [one], { kind: "trail" })));
    expect(together).toEqual(alone.flat());
    expect(together.map(({ trail_id }) => trail_id)).toEqual(cases.map(({ trail_id }) => trail_id));
  });

  it("writes verdicts as JSON does", async () => {
    const verdicts = await judgeCases("org", [caseOf(1, 2), caseOf(2, 1)], { kind: "trail" });
    expect(JSON.parse(finish(writeVerdicts(verdicts)))).toEqual(verdicts);
    expect(JSON.parse(finish(writeVerdicts([])))).toEqual([]);
  });
});
