import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { showPath } from "../../lib/yaml-format.ts";
import { describeIssues, TemplateError } from "./errors.ts";
import { flowTemplateJsonSchema } from "./format.ts";
import { attestationTypes, emptyTemplate, emptyTemplateText, type Template } from "./model.ts";
import { parseTemplate } from "./parse.ts";
import { printTemplate } from "../../../test/support/print-template.ts";
import { legacyTemplate, legacyTemplateText, storedTemplate } from "./stored.ts";

function issuesOf(text: string): Record<string, string> {
  try {
    parseTemplate(text);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return Object.fromEntries(error.issues.map(({ path, reasons }) => [showPath(path), reasons.join("; ")]));
  }
  return {};
}

const full = `# yaml-language-server: $schema=https://x.test/v1
version: 1
trail:
  attestations:
    - name: pull-request
      type: pull_request
    - {name: anything, type: "*"}
  artifacts:
    - name: web
      attestations:
        - name: unit-test
          type: junit
        - name: review
          type: decision
    - name: db
`;

const fullModel: Template = {
  version: 1,
  trail: {
    attestations: [
      { name: "pull-request", type: "pull_request" },
      { name: "anything", type: "*" },
    ],
    artifacts: [
      {
        name: "web",
        attestations: [
          { name: "unit-test", type: "junit" },
          { name: "review", type: "decision" },
        ],
      },
      { name: "db", attestations: [] },
    ],
  },
};

/** Texts with the locations of their mistakes; the schema's verdict is compared where it can say as much. */
const examples: { text: string; mistakes: string[]; beyondSchema?: true }[] = [
  { text: full, mistakes: [] },
  { text: "version: 1", mistakes: [] },
  { text: "{}", mistakes: [] },
  { text: "trail:", mistakes: [] },
  { text: "trail: {}", mistakes: [] },
  { text: "trail: {attestations: [], artifacts: []}", mistakes: [] },
  { text: "trail: {artifacts: [{name: a_B-9}]}", mistakes: [] },
  ...[...attestationTypes, "decision", "'*'", "custom:x", "'custom:'"].map((type) => ({
    text: `trail: {attestations: [{name: a, type: ${type}}]}`,
    mistakes: [],
  })),
  { text: "trail: {attestations: [{name: 'a-B_9,c', type: junit}]}", mistakes: [] },
  {
    text: "trail: {attestations: [{name: a.b, type: junit}]}",
    mistakes: ["trail.attestations[0].name"],
  },
  {
    text: 'trail: {artifacts: [{name: a, attestations: [{name: "a\\0b", type: junit}]}]}',
    mistakes: ["trail.artifacts[0].attestations[0].name"],
  },
  {
    text: "trail: {attestations: [{name: a, type: junit}], artifacts: [{name: a, attestations: [{name: a, type: junit}]}]}",
    mistakes: [],
  },
  { text: "", mistakes: [""] },
  { text: "text", mistakes: [""] },
  { text: "[]", mistakes: [""] },
  { text: "version: 2", mistakes: ["version"] },
  { text: "version: '1'", mistakes: ["version"] },
  { text: "version: null", mistakes: ["version"] },
  { text: "version: true", mistakes: ["version"] },
  { text: "extra: 1", mistakes: ["extra"] },
  { text: "trail: []", mistakes: ["trail"] },
  { text: "trail: {extra: 1}", mistakes: ["trail.extra"] },
  { text: "trail: {attestations: null}", mistakes: ["trail.attestations"] },
  { text: "trail: {attestations: {}}", mistakes: ["trail.attestations"] },
  { text: "trail: {artifacts: null}", mistakes: ["trail.artifacts"] },
  { text: "trail: {attestations: [x]}", mistakes: ["trail.attestations[0]"] },
  {
    text: "trail: {attestations: [{}]}",
    mistakes: ["trail.attestations[0].name", "trail.attestations[0].type"],
  },
  { text: "trail: {attestations: [{name: a}]}", mistakes: ["trail.attestations[0].type"] },
  { text: "trail: {attestations: [{name: a, type: 1}]}", mistakes: ["trail.attestations[0].type"] },
  { text: "trail: {attestations: [{name: 1, type: junit}]}", mistakes: ["trail.attestations[0].name"] },
  { text: "trail: {attestations: [{name: '', type: junit}]}", mistakes: ["trail.attestations[0].name"] },
  { text: "trail: {attestations: [{name: ' ', type: junit}]}", mistakes: ["trail.attestations[0].name"] },
  {
    text: `trail: {attestations: [{name: ${"a".repeat(513)}, type: junit}]}`,
    mistakes: ["trail.attestations[0].name"],
  },
  {
    text: "trail: {attestations: [{name: a, type: not-supported}]}",
    mistakes: ["trail.attestations[0].type"],
  },
  {
    text: "trail: {attestations: [{name: a, type: pull-request}]}",
    mistakes: ["trail.attestations[0].type"],
  },
  { text: "trail: {attestations: [{name: a, type: ''}]}", mistakes: ["trail.attestations[0].type"] },
  { text: "trail: {attestations: [{name: a, type: xcustom:x}]}", mistakes: ["trail.attestations[0].type"] },
  { text: "trail: {attestations: [{name: a, type: junit, x: 1}]}", mistakes: ["trail.attestations[0].x"] },
  { text: "trail: {artifacts: [{}]}", mistakes: ["trail.artifacts[0].name"] },
  { text: "trail: {artifacts: [{name: ''}]}", mistakes: ["trail.artifacts[0].name"] },
  { text: "trail: {artifacts: [{name: a.b}]}", mistakes: ["trail.artifacts[0].name"] },
  { text: "trail: {artifacts: [{name: 'a b'}]}", mistakes: ["trail.artifacts[0].name"] },
  { text: "trail: {artifacts: [{name: a, type: x}]}", mistakes: ["trail.artifacts[0].type"] },
  {
    text: "trail: {artifacts: [{name: a, attestations: [{name: b, type: x}]}]}",
    mistakes: ["trail.artifacts[0].attestations[0].type"],
  },
  {
    text: "trail: {artifacts: [{name: a}, {name: b}, {name: a}]}",
    mistakes: ["trail.artifacts[2].name"],
    beyondSchema: true,
  },
  {
    text: "trail: {attestations: [{name: a, type: junit}, {name: a, type: snyk}]}",
    mistakes: ["trail.attestations[1].name"],
    beyondSchema: true,
  },
  {
    text: "trail: {artifacts: [{name: a, attestations: [{name: b, type: junit}, {name: b, type: junit}]}]}",
    mistakes: ["trail.artifacts[0].attestations[1].name"],
    beyondSchema: true,
  },
  {
    text: "version: 3\nx: 1\ntrail: {y: 1, artifacts: 7}",
    mistakes: ["version", "x", "trail.y", "trail.artifacts"],
  },
];

type Schema = Record<string, unknown>;

/** As much of JSON Schema as the flow template's schema uses; anything else is an error of the test. */
function fits(schema: Schema, value: unknown, root: Schema): boolean {
  return Object.entries(schema).every(([keyword, rule]) => {
    const sub = (part: unknown, item: unknown): boolean => fits(part as Schema, item, root);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    switch (keyword) {
      case "$schema":
      case "$id":
      case "$defs":
      case "title":
      case "description":
      case "default":
        return true;
      case "$ref":
        return sub((root["$defs"] as Schema)[String(rule).replace("#/$defs/", "")], value);
      case "anyOf":
        return (rule as Schema[]).some((option) => sub(option, value));
      case "enum":
        return (rule as unknown[]).includes(value);
      case "const":
        return value === rule;
      case "type":
        if (rule === "integer") return Number.isInteger(value);
        if (rule === "null") return value === null;
        if (rule === "array") return Array.isArray(value);
        return rule === "object" ? isObject : typeof value === rule;
      case "minLength":
        return typeof value !== "string" || value.length >= Number(rule);
      case "maxLength":
        return typeof value !== "string" || value.length <= Number(rule);
      case "pattern":
        return typeof value !== "string" || new RegExp(String(rule), "u").test(value);
      case "items":
        return !Array.isArray(value) || value.every((item) => sub(rule, item));
      case "required":
        return !isObject || (rule as string[]).every((key) => key in value);
      case "properties":
        return (
          !isObject ||
          Object.entries(rule as Schema).every(
            ([key, part]) => !(key in value) || sub(part, (value as Schema)[key]),
          )
        );
      case "additionalProperties":
        return !isObject || Object.keys(value).every((key) => key in (schema["properties"] as Schema));
      default:
        throw new Error(`The test does not know ${keyword}`);
    }
  });
}

/** The example as data, read by other means than the parser under test. */
async function dataOf(text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  return parse(text);
}

describe("parseTemplate", () => {
  it("reads a template with everything in it", () => {
    expect(parseTemplate(full)).toEqual(fullModel);
  });

  it.each(examples)("finds the mistakes of $text", ({ text, mistakes }) => {
    expect(Object.keys(issuesOf(text)).sort()).toEqual([...mistakes].sort());
  });

  it.each(examples)("agrees with the JSON Schema about $text", async ({ text, mistakes, beyondSchema }) => {
    const schema = flowTemplateJsonSchema("https://waybill.test/v1");
    const expected = mistakes.length === 0 || beyondSchema === true;
    expect(fits(schema, await dataOf(text), schema)).toBe(expected);
  });

  it("lets a type say every way in which it does not fit", () => {
    expect(issuesOf("trail: {attestations: [{name: a, type: not-supported}]}")).toEqual({
      "trail.attestations[0].type":
        "Input should be 'generic', 'junit', 'snyk', 'pull_request', 'jira' or 'sonar'; " +
        "String should match pattern '^custom:.*$'; Input should be 'decision'; Input should be '*'",
    });
  });

  it("tells where a text stops being YAML", () => {
    expect(issuesOf("version: 1\ntrail: {")[""]).toMatch(/^Invalid YAML: .* \(line 2\)$/);
    expect(issuesOf("version: 1\nversion: 1")[""]).toBe(
      "Invalid YAML: Key 'version' is given twice (line 2)",
    );
    expect(issuesOf("a".repeat(200_000))[""]).toContain("longer than 131072 characters");
  });

  it("notes no more than 50 mistakes", () => {
    const text = `trail: {attestations: [${"x, ".repeat(2000)}x]}`;
    expect(Object.keys(issuesOf(text))).toHaveLength(50);
  });

  it("throws nothing but its own error, and soon", () => {
    const word = fc.constantFrom("version", "trail", "attestations", "artifacts", "name", "type", "junit", "1", "a", "'*'", "[]", "{}", "null", "&x", "*x", "!!str"); // prettier-ignore
    const glue = fc.constantFrom(
      ": ",
      ":\n  ",
      ":\n    - ",
      "\n",
      "\n  ",
      "\n    - ",
      ", ",
      "{",
      "}",
      "[",
      "]",
      " ",
    );
    const text = fc.oneof(
      fc.array(fc.oneof(word, glue), { maxLength: 40 }).map((parts) => parts.join("")),
      fc.array(fc.tuple(word, glue), { maxLength: 20 }).map((parts) => parts.flat().join("")),
      fc.string({ unit: "binary" }),
    );
    const started = performance.now();
    fc.assert(
      fc.property(text, (source) => {
        try {
          parseTemplate(source);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
        expect(storedTemplate(source).version).toBe(1);
      }),
      { numRuns: 2000 },
    );
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

const attestationName = fc.stringMatching(/^[a-zA-Z0-9\-_,]{1,20}$/);
const attestations = fc.uniqueArray(
  fc.record({
    name: attestationName,
    type: fc.oneof(
      fc.constantFrom(...attestationTypes, "decision", "*"),
      fc.stringMatching(/^[a-z0-9 .:#'"-]{0,10}$/).map((name) => `custom:${name}`),
    ),
  }),
  { selector: (item) => item.name, maxLength: 5 },
);
const template: fc.Arbitrary<Template> = fc.record({
  version: fc.constant(1 as const),
  trail: fc.record({
    attestations,
    artifacts: fc.uniqueArray(
      fc.record({ name: fc.stringMatching(/^[a-zA-Z0-9\-_]{1,10}$/), attestations }),
      {
        selector: (item) => item.name,
        maxLength: 5,
      },
    ),
  }),
});

describe("printTemplate", () => {
  it("is read back as the same template", () => {
    fc.assert(
      fc.property(template, (model) => {
        expect(parseTemplate(printTemplate(model))).toEqual(model);
      }),
      { numRuns: 500 },
    );
  });

  it("prints the template that expects nothing", () => {
    expect(printTemplate(emptyTemplate())).toBe(emptyTemplateText);
  });
});

describe("describeIssues", () => {
  it.each([
    ["trail: {attestations: [{name: a, type: x}]}", 4],
    ["extra: 1", 1],
    ["[", 1],
  ])("counts the mistakes of %j", (text, count) => {
    try {
      parseTemplate(text);
      expect.unreachable();
    } catch (error) {
      const described = describeIssues((error as TemplateError).issues);
      expect(described).toMatch(/^\d+ validation errors for Template\n.*/);
      expect(described.split("\n")[0]).toBe(`${count} validation errors for Template`);
      expect(described.split("\n")).toHaveLength(1 + 2 * count);
    }
  });
});

describe("templates that were stored", () => {
  it("keeps a list of names as text and reads it as one artifact", () => {
    const names = ["artifact", "unit-test", "scan", "scan"];
    expect(legacyTemplateText(names)).toBe("artifact unit-test scan");
    expect(storedTemplate(legacyTemplateText(names))).toEqual(legacyTemplate(names));
    expect(legacyTemplate(names).trail).toEqual({
      attestations: [],
      artifacts: [
        {
          name: "artifact",
          attestations: [
            { name: "unit-test", type: "*" },
            { name: "scan", type: "*" },
          ],
        },
      ],
    });
  });

  it("keeps an empty list as the empty template", () => {
    expect(storedTemplate(legacyTemplateText([]))).toEqual(emptyTemplate());
  });

  it("never takes a template for a list of names", () => {
    fc.assert(
      fc.property(template, (model) => {
        expect(storedTemplate(printTemplate(model))).toEqual(model);
      }),
    );
  });

  it("expects nothing where a text cannot be read any more", () => {
    expect(storedTemplate("trail: {attestations: [{name: '', type: junit}]}")).toEqual(emptyTemplate());
    expect(storedTemplate("{{{")).toEqual(emptyTemplate());
  });
});
