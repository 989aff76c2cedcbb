import { describe, expect, it } from "vitest";
import { z } from "zod";

import { inputErrors } from "./input-errors.ts";
import { safeParse } from "./safe-parse.ts";

const schema = z.object({
  name: z.string().max(5),
  list: z.array(z.string().min(1)).max(2),
  rest: z.unknown(),
});

describe("safeParse", () => {
  it.each([
    [{ length: { toString: 1 } }, "an own toString"],
    [{ length: { toString: null, valueOf: {} } }, "neither conversion"],
    [[{ length: { toString: 1 } }], "inside a list"],
  ])("refuses %j: %s", (list, _how) => {
    const parsed = safeParse(schema, { name: "a", list });
    if (parsed.success) throw new Error("was accepted");
    expect(Object.keys(inputErrors("", parsed.error)).join()).toContain("list");
  });

  it("keeps lengths that stand where anything may", () => {
    const rest = { length: { toString: 1 } };
    expect(safeParse(schema, { name: "a", list: [], rest }).data?.rest).toEqual(rest);
  });
});
