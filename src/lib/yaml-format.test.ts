import { describe, expect, it } from "vitest";

import {
  atMost,
  boolean,
  documentSchema,
  type DocumentFormat,
  FormatError,
  type FormatIssue,
  list,
  mapping,
  parseDocument,
  showPath,
  text,
} from "./yaml-format.ts";

class BoxError extends FormatError {
  constructor(issues: readonly FormatIssue[]) {
    super("Not a box", issues);
  }
}

const item = mapping({
  name: "Item",
  fields: {
    name: text({ description: "Its name.", rules: [atMost(3)] }),
    label: text({ default: null, rules: [] }),
    kind: text({ default: "thing", rules: [] }),
  },
  checks: {
    label({ name, label }, place) {
      if (name !== undefined && name === label) place.note("Label says nothing", name);
    },
  },
});
const box: DocumentFormat<unknown> = {
  root: mapping({
    name: "Box",
    fields: {
      open: boolean({ default: false, description: "Whether it is open." }),
      items: list(item, {
        check(items, place) {
          if (items.length > 60) place.giveUp("Box is full", undefined);
        },
      }),
    },
  }),
  limits: { maxLength: 2000, maxValues: 1000 },
  error: BoxError,
};

function mistakes(source: string): string[] {
  try {
    parseDocument(box, source);
  } catch (error) {
    if (!(error instanceof BoxError)) throw error;
    return error.issues.map(({ path, reasons }) => `${showPath(path)}: ${reasons.join("; ")}`);
  }
  return [];
}

describe("a format", () => {
  it("fills in what was left out", () => {
    expect(parseDocument(box, "{}")).toEqual({ open: false, items: [] });
    expect(parseDocument(box, "items: [{name: a}, {name: b, label: null, kind: c}]")).toEqual({
      open: false,
      items: [
        { name: "a", label: null, kind: "thing" },
        { name: "b", label: null, kind: "c" },
      ],
    });
  });

  it("tells mistakes in the order of its fields, unknown keys first", () => {
    expect(
      mistakes("items: [{kind: null, label: abc, name: abc, x: 1}, 7, {name: long}]\nopen: 1\ny: 2"),
    ).toEqual([
      "y: Extra inputs are not permitted",
      "open: Input should be a valid boolean",
      "items[0].x: Extra inputs are not permitted",
      "items[0]: Label says nothing",
      "items[0].kind: Input should be a valid string",
      "items[1]: Input should be a valid dictionary",
      "items[2].name: String should have at most 3 characters",
    ]);
  });

  it("tells of 50 mistakes, and of the one at which it stops", () => {
    expect(mistakes(`items: [1${", 1".repeat(59)}]`)).toHaveLength(50);
    expect(mistakes(`items: [1${", 1".repeat(60)}]`).slice(49)).toEqual([
      "items[49]: Input should be a valid dictionary",
      "items: Box is full",
    ]);
  });

  it("does not take a key for something that all objects have", () => {
    expect(mistakes("__proto__: 1\ntoString: 2")).toEqual([
      "__proto__: Extra inputs are not permitted",
      "toString: Extra inputs are not permitted",
    ]);
  });

  it("has a JSON Schema", () => {
    expect(documentSchema(box, { $id: "https://x.test", title: "Box", description: "A box." })).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://x.test",
      title: "Box",
      description: "A box.",
      type: "object",
      additionalProperties: false,
      properties: {
        open: { type: "boolean", default: false, description: "Whether it is open." },
        items: { type: "array", default: [], items: { $ref: "#/$defs/Item" } },
      },
      $defs: {
        Item: {
          type: "object",
          additionalProperties: false,
          required: ["name"],
          properties: {
            name: { type: "string", maxLength: 3, description: "Its name." },
            label: { type: ["string", "null"], default: null },
            kind: { type: "string", default: "thing" },
          },
        },
      },
    });
  });
});
