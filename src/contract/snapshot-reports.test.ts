import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { z } from "zod";

import { finish } from "../lib/steps.ts";
import { isQuicklyAccepted } from "./accepted.ts";
import { inputErrors } from "./input-errors.ts";
import { parseInSteps } from "./parse-in-steps.ts";
import { partsOf } from "./prevalidated.ts";
import { K8SReport, ServerReport } from "./snapshot-reports.ts";

const fingerprint = "ab".repeat(32);

/** Gives the schema of what a report lists. */
function itemOf(report: typeof K8SReport | typeof ServerReport): z.ZodType {
  const parts = partsOf(report.shape.artifacts);
  if (parts?.kind !== "list") throw new Error("A report is no list");
  return parts.item;
}

/** Mostly what is asked for, sometimes anything else. */
function mostly(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const other = fc.constantFrom<unknown>(
    null,
    true,
    1,
    -0,
    1.5,
    1e300,
    -62_135_596_801,
    253_402_300_800,
    "",
    [],
    {},
    "x",
  );
  return fc.oneof({ weight: 30, arbitrary }, { weight: 1, arbitrary: other });
}

const name = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("web", "", "7", "é\u{1F600}", "constructor", "toString") },
  { weight: 1, arbitrary: fc.constantFrom("x".repeat(4096), "x".repeat(4097)) },
);
const digest = fc.oneof(
  { weight: 20, arbitrary: fc.constant(fingerprint) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", fingerprint.toUpperCase(), `${fingerprint}\n`, `${fingerprint}0`),
  },
);

/** An object with these members, some of them left out, sometimes in another order or with one more. */
function objectWith(
  members: Record<string, fc.Arbitrary<unknown>>,
  optional: readonly string[] = [],
): fc.Arbitrary<unknown> {
  const record = fc.record(members, {
    requiredKeys: Object.keys(members).filter((key) => !optional.includes(key)),
  });
  const order = fc.oneof(
    { weight: 10, arbitrary: fc.constant("given") },
    fc.constantFrom("reversed", "more", "fewer"),
  );
  return fc.tuple(record, order).map(([value, how]) => {
    const entries = Object.keys(members)
      .filter((key) => Object.hasOwn(value, key))
      .map((key) => [key, (value as Record<string, unknown>)[key]]);
    if (how === "reversed") entries.reverse();
    if (how === "more") entries.push(["more", 1]);
    if (how === "fewer") entries.shift();
    return Object.fromEntries(entries) as unknown;
  });
}

const item = {
  digests: mostly(fc.dictionary(name, digest, { maxKeys: 22 })),
  creationTimestamp: mostly(fc.integer()),
};
const flag = mostly(fc.constantFrom(true, false, null));
const owner = objectWith(
  { apiVersion: name, kind: name, name: mostly(name), uid: name, controller: flag, blockOwnerDeletion: flag },
  ["controller", "blockOwnerDeletion"],
);
const pod = objectWith(
  { podName: mostly(name), namespace: name, ...item, owners: mostly(fc.array(owner, { maxLength: 22 })) },
  ["owners"],
);

describe.each([
  ["pod", itemOf(K8SReport), pod],
  ["digests", itemOf(ServerReport), objectWith(item)],
] as const)("what is quickly accepted as %s", (_name, schema, arbitrary) => {
  it("is what validation accepts, and gives back as it was written", () => {
    let accepted = 0;
    fc.assert(
      fc.property(arbitrary, (value) => {
        if (!isQuicklyAccepted(schema, value)) return;
        accepted += 1;
        const parsed = schema.safeParse(value);
        expect(parsed.success).toBe(true);
        expect(JSON.stringify(parsed.data)).toBe(JSON.stringify(value));
        expect(parsed.data).toEqual(value);
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});

it("reports are refused in the words of validation", () => {
  fc.assert(
    fc.property(fc.array(pod, { minLength: 21, maxLength: 40 }), (artifacts) => {
      const shown = (parsed: z.ZodSafeParseResult<unknown>): unknown =>
        parsed.success ? JSON.stringify(parsed.data) : inputErrors("", parsed.error);
      const inSteps = finish(parseInSteps(K8SReport, { artifacts: structuredClone(artifacts) }));
      expect(shown(inSteps)).toEqual(shown(K8SReport.safeParse({ artifacts }, { reportInput: true })));
    }),
  );
});
