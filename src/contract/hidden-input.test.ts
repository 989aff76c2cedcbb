import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { EnvActionPutInput } from "./actions.ts";
import { hidingInput } from "./hidden-input.ts";
import { inputErrors } from "./input-errors.ts";
import { distinctList } from "./lists.ts";

const Body = EnvActionPutInput;
const action = { name: "alert", environments: ["prod"], triggers: ["ON_COMPLIANT_ENV"] };

function errorsOf(schema: z.ZodType, value: unknown) {
  const parsed = schema.safeParse(value, { reportInput: true });
  return parsed.success ? undefined : inputErrors("", parsed.error);
}

describe("hidingInput", () => {
  it("returns what the schema returns", () => {
    const schema = hidingInput(z.object({ a: z.string().default("x") }), []);
    expect(schema.parse({})).toEqual({ a: "x" });
  });

  it("quotes only what is said to be harmless", () => {
    const schema = z.object({
      o: hidingInput(z.strictObject({ secret: z.string(), open: z.string() }), ["open"]),
    });
    expect(errorsOf(schema, { o: { secret: 17, open: 18, typo: "hush" } })).toEqual({
      "o.secret": "Input should be a valid string [input: ***]",
      "o.open": "Input should be a valid string [input: 18]",
      "o.typo": "Extra inputs are not permitted [input: ***]",
    });
  });

  it("tells nothing of the alternatives of a union", () => {
    const schema = z.object({ o: hidingInput(z.union([z.number(), z.object({ a: z.number() })]), []) });
    expect(errorsOf(schema, { o: { a: "hush" } })).toEqual({ o: "Invalid input [input: ***]" });
  });

  it("says of what is missing that it is missing", () => {
    expect(errorsOf(Body, action)).toEqual({ targets: "Field required [input: None]" });
    expect(errorsOf(Body, { ...action, targets: [{ type: "WEBHOOK" }] })).toEqual({
      "targets[0].webhook": "Field required [input: None]",
    });
  });

  it("never quotes a secret, wherever it is put", () => {
    const secret = "s3cr3t-token";
    const place = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(secret, `https://hooks.example.com/${secret}`, null, 1),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.record(
          {
            type: fc.constantFrom("WEBHOOK", "SLACK", "TEAMS"),
            webhook: tie("value"),
            webhok: tie("value"),
            url: tie("value"),
          },
          { requiredKeys: [] },
        ),
      ),
    })).value;
    fc.assert(
      fc.property(place, (value) => {
        for (const body of [value, { ...action, targets: value }, { ...action, targets: [], webhook: value }])
          expect(JSON.stringify(errorsOf(Body, body) ?? {})).not.toContain(secret);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("distinctList", () => {
  const schema = z.object({ list: distinctList(z.string(), { min: 1, max: 3 }) });

  it("names every repetition", () => {
    expect(errorsOf(schema, { list: ["a", "b", "a"] })).toEqual({
      "list[2]": "List should not contain the same item twice [input: a]",
    });
  });

  it("keeps the order and the limits", () => {
    expect(schema.parse({ list: ["b", "a"] })).toEqual({ list: ["b", "a"] });
    expect(errorsOf(schema, { list: [] })).toEqual({ list: "List should have at least 1 item [input: []]" });
    expect(errorsOf(schema, { list: ["a", "b", "c", "d"] })).toEqual({
      list: 'List should have at most 3 items [input: ["a","b","c","d"]]',
    });
  });
});
