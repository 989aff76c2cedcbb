import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type GivenDefinition, isSameDefinition, normalDefinition } from "./definition.ts";

const text = fc.string({ maxLength: 8 });
const schema = fc.dictionary(text, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
const evaluator = fc.record({
  content_type: fc.constant("jq" as const),
  rules: fc.array(text, { maxLength: 3 }),
});
const summary = fc.array(fc.record({ name: text, expression: text }), { maxLength: 3 });
const definition: fc.Arbitrary<GivenDefinition> = fc.record(
  {
    description: fc.option(text),
    type_schema: schema,
    evaluator: fc.option(fc.oneof(evaluator, fc.constant({ content_type: "default" as const }))),
    summary: fc.option(summary),
  },
  { requiredKeys: [] },
);

/** The same JSON with the keys of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([key, item]) => [key, reordered(item)]));
}

describe("definitions", () => {
  it("are the same as themselves, whatever the order of keys, and after storage", () => {
    fc.assert(
      fc.property(definition, (given) => {
        const normal = normalDefinition(given);
        expect(isSameDefinition(normal, normalDefinition(reordered(given) as GivenDefinition))).toBe(true);
        expect(isSameDefinition(normal, JSON.parse(JSON.stringify(normal)))).toBe(true);
        expect(normalDefinition({ ...normal, type_schema: normal.type_schema ?? undefined })).toEqual(normal);
      }),
    );
  });

  it("are the same exactly if their normal forms are", () => {
    fc.assert(
      fc.property(definition, definition, (a, b) => {
        const [one, other] = [normalDefinition(a), normalDefinition(b)];
        const canonical = (value: unknown): string =>
          JSON.stringify(value, (_key, item: unknown) =>
            typeof item === "object" && item !== null && !Array.isArray(item)
              ? Object.fromEntries(Object.entries(item).sort(([x], [y]) => (x < y ? -1 : 1)))
              : item,
          );
        const same = canonical(one) === canonical(other);
        expect(isSameDefinition(one, other)).toBe(same);
        expect(isSameDefinition(other, one)).toBe(same);
      }),
    );
  });

  const full = {
    description: "d",
    type_schema: { type: "object", required: ["a", "b"] },
    evaluator: { content_type: "jq" as const, rules: [".a", ".b"] },
    summary: [
      { name: "A", expression: ".a" },
      { name: "B", expression: ".b" },
    ],
  };

  it.each<[string, GivenDefinition]>([
    ["description", { ...full, description: "D" }],
    ["no description", { ...full, description: null }],
    ["schema", { ...full, type_schema: { type: "object", required: ["a", "b", "c"] } }],
    ["order of a list in the schema", { ...full, type_schema: { type: "object", required: ["b", "a"] } }],
    ["no schema", { ...full, type_schema: undefined }],
    ["order of the rules", { ...full, evaluator: { content_type: "jq", rules: [".b", ".a"] } }],
    ["a space in a rule", { ...full, evaluator: { content_type: "jq", rules: [".a ", ".b"] } }],
    ["fewer rules", { ...full, evaluator: { content_type: "jq", rules: [".a"] } }],
    ["no rules", { ...full, evaluator: { content_type: "default" } }],
    ["order of the summary", { ...full, summary: full.summary.toReversed() }],
    ["a name in the summary", { ...full, summary: [{ name: "a", expression: ".a" }, full.summary[1]!] }],
    ["no summary", { ...full, summary: [] }],
  ])("differ by %s", (_what, other) => {
    expect(isSameDefinition(normalDefinition(full), normalDefinition(other))).toBe(false);
  });

  it.each<[GivenDefinition, GivenDefinition]>([
    [{}, { description: "", evaluator: null, summary: [] }],
    [{ description: null, summary: null }, { evaluator: { content_type: "default" } }],
    [{ type_schema: { maximum: -0 } }, { type_schema: { maximum: 0 } }],
    [{ type_schema: { maximum: 1e3 } }, { type_schema: { maximum: 1000 } }],
  ])("are the same: %j and %j", (a, b) => {
    expect(isSameDefinition(normalDefinition(a), normalDefinition(b))).toBe(true);
  });
});
