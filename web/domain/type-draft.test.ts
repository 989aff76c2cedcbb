import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  definitionText,
  draftOf,
  givenType,
  lackingIn,
  mistakesIn,
  nextKey,
  typeStart,
  type TypeVersionLike,
} from "./type-draft.ts";

const words = fc.string({ minLength: 1 }).filter((text) => text.trim() !== "");
const version: fc.Arbitrary<TypeVersionLike> = fc.record({
  type_schema: fc.constantFrom(null, { type: "object", required: ["lines"] }),
  evaluator: fc.oneof(
    fc.constant({ content_type: "default" as const }),
    fc.record({ content_type: fc.constant("jq" as const), rules: fc.array(words, { minLength: 1 }) }),
  ),
  summary: fc.option(fc.array(fc.record({ name: words, expression: words }), { minLength: 1 })),
});

describe("drafts of types", () => {
  it("gives back what a version says", () => {
    fc.assert(
      fc.property(version, (one) => {
        const given = givenType(draftOf(one, undefined));
        expect(given.schema).toEqual(one.type_schema);
        expect(given.rules).toEqual(one.evaluator.content_type === "jq" ? one.evaluator.rules : null);
        expect(given.summary).toEqual(one.summary);
        expect(lackingIn(draftOf(one, "words"))).toBeUndefined();
      }),
    );
  });

  it("leaves out what is empty, and says what is half written", () => {
    expect(givenType(typeStart)).toEqual({ schema: null, rules: null, summary: null });
    expect(lackingIn(typeStart)).toBeUndefined();
    expect(lackingIn({ ...typeStart, schema: "{" })).toBe("The schema is no JSON yet");
    expect(lackingIn({ ...typeStart, summary: [{ key: 0, name: "Lines", expression: "" }] })).toMatch(
      /lacks/,
    );
    expect(nextKey([])).toBe(0);
    expect(nextKey([{ key: 4 }, { key: 1 }])).toBe(5);
  });

  it("puts mistakes to the line that they are in, past empty ones", () => {
    const draft = {
      description: "",
      schema: '{\n  "type": "nummer"\n}',
      rules: [
        { key: 7, text: "" },
        { key: 8, text: ".a >" },
      ],
      summary: [
        { key: 1, name: "", expression: "" },
        { key: 3, name: "A", expression: "(" },
      ],
    };
    const mistakes = mistakesIn(draft, {
      "schema/type": "must be a type [input: …]",
      "rules[0]": "syntax error [input: .a >]",
      "summary[0].expression": "unfinished",
    });
    expect(mistakes.schema).toEqual([{ line: 2, column: 3, message: "must be a type", part: "/type" }]);
    expect([...mistakes.rules]).toEqual([[8, "syntax error"]]);
    expect([...mistakes.summary]).toEqual([[3, "unfinished"]]);
    expect(mistakesIn({ ...draft, schema: "{" }, {}).schema[0]).toMatchObject({ line: 1, column: 2 });
  });

  it("writes a definition line by line", () => {
    const draft = draftOf(
      {
        type_schema: null,
        evaluator: { content_type: "jq", rules: [".lines >= 80"] },
        summary: [{ name: "Lines", expression: ".lines" }],
      },
      "How much is tested",
    );
    expect(definitionText(draft)).toBe(
      "Description\nHow much is tested\n\nRules\n.lines >= 80\n\nSummary\nLines: .lines\n\nSchema\nnone\n",
    );
    expect(definitionText({ ...draft, schema: '{"type"' })).toContain('Schema\n{"type"\n');
  });
});
