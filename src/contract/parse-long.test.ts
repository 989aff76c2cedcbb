import { describe, expect, it } from "vitest";

import { finish } from "../lib/steps.ts";
import { inputErrors } from "./input-errors.ts";
import { parseLong, safeParse } from "./safe-parse.ts";
import { ServerReport } from "./snapshot-reports.ts";

const long = { key: "artifacts", max: 20_000 };
const fingerprint = "ab".repeat(32);

/** A report of as many artifacts, of which some have a wrong time. */
function report(count: number, wrong: readonly number[] = []): Record<string, unknown> {
  const artifacts = Array.from({ length: count }, (_, at) => ({
    digests: { [`a${at}`]: fingerprint },
    creationTimestamp: wrong.includes(at) ? "soon" : at,
  }));
  return { artifacts };
}

describe("a long list, validated bit by bit", () => {
  it.each([0, 1, 20, 21, 400])("comes to the same as at once: %i items", (count) => {
    const parsed = finish(parseLong(ServerReport, report(count), long));
    expect(parsed).toEqual(safeParse(ServerReport, report(count)));
    expect(parsed.data?.type).toBe("server");
  });

  it.each([
    ["an item", report(400, [0, 19, 20, 399])],
    ["what is beside it", { ...report(400, [30]), extra: 1 }],
    ["no list", { artifacts: "none" }],
    ["no object", null],
    ["too long a list", report(20_001)],
  ])("tells the same mistakes, with their places: %s", (_, value) => {
    const parsed = finish(parseLong(ServerReport, value, long));
    const errors = parsed.success ? {} : inputErrors("", parsed.error);
    expect(Object.keys(errors).length).toBeGreaterThan(0);
    expect(errors).toEqual(inputErrors("", safeParse(ServerReport, value).error!));
  });

  it("gives up at the twentieth wrong item", () => {
    const all = Array.from({ length: 2000 }, (_, at) => at);
    const parsed = finish(parseLong(ServerReport, report(2000, all), long));
    expect(Object.keys(inputErrors("", parsed.error!))).toEqual(
      all.slice(0, 20).map((at) => `artifacts[${at}].creationTimestamp`),
    );
  });
});
