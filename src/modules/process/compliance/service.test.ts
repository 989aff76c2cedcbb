import { describe, expect, it } from "vitest";

import { attestation } from "../../../../test/support/compliance.ts";
import { leastLongestTurn, turnsDuring } from "../../../../test/support/turns.ts";
import { evaluateTrail } from "../../../domain/compliance/evaluate.ts";
import { storedTemplate } from "../../../domain/template/stored.ts";
import { sha256 } from "../../../lib/hash.ts";
import { finish } from "../../../lib/steps.ts";
import { judgeCases, type JudgedCase, writtenVerdicts } from "./service.ts";
import { type Verdict, writeVerdicts } from "./store.ts";

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

/** A trail that was attested under a number of names itself. */
function attestedOften(number: number, names: number): JudgedCase {
  const attestations = Array.from({ length: names }, (_, at) =>
    attestation(`name-${at}😀`, "generic", { attestation_id: uuid(at), is_compliant: at % 2 === 0 }),
  );
  return { ...caseOf(number, 0), attestations };
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

  /** What the database reads of written verdicts. */
  const read = (verdict: Verdict) => ({
    ...verdict,
    artifact_states: JSON.parse(verdict.artifact_states.join("")) as unknown,
    status: verdict.status.join(""),
  });

  it("writes verdicts as JSON does", async () => {
    const cases = [caseOf(1, 2), caseOf(2, 1), attestedOften(3, 6000)];
    const verdicts = await judgeCases("org", cases, { kind: "trail" });
    const [short, long] = [verdicts.slice(0, 2), verdicts].map((some) => finish(writeVerdicts(some)));
    expect([typeof short, Buffer.isBuffer(long)]).toEqual(["string", true]);
    expect(JSON.parse(String(short))).toEqual(verdicts.slice(0, 2).map(read));
    expect(JSON.parse(String(long))).toEqual(verdicts.map(read));
    expect(JSON.parse(String(finish(writeVerdicts([]))))).toEqual([]);
  });

  it("has long verdicts in parts, and stops for each that is written", async () => {
    const [verdict] = await judgeCases("org", [attestedOften(1, 2000)], { kind: "trail" });
    const steps = writeVerdicts([verdict!]);
    let stops = 0;
    while (steps.next().done !== true) stops += 1;
    expect(Math.max(...verdict!.status.map(({ length }) => length))).toBeLessThan(200_000);
    expect(verdict!.status.length).toBeGreaterThan(3);
    expect(stops).toBeGreaterThan(verdict!.status.join("").length / 65_536 + 2000 / 500);
  });

  it.each([3, 1200])(
    "has the digest of the JSON that says all of the trail's %i attestations",
    async (names) => {
      const one = attestedOften(1, names);
      const [verdict] = await judgeCases("org", [one], { kind: "trail" });
      const { status, attestations_statuses: rows } = evaluateTrail(storedTemplate(one.template), one);
      const text = JSON.stringify([status, rows, one.template_id]);
      expect(verdict!.own_digest).toBe(sha256(text).toString("base64url"));
    },
  );

  it("holds nobody up for long when there are tens of thousands of names", { timeout: 60_000 }, async () => {
    for (const large of [caseOf(1, 1500), attestedOften(2, 30_000)]) {
      let verdicts: Verdict[] = [];
      const longest = await leastLongestTurn(50, async () => {
        verdicts = await judgeCases("org", [large], { kind: "trail" });
        await writtenVerdicts([large], verdicts);
      });
      expect(longest).toBeLessThan(50);
    }
  });
});
