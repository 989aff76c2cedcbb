import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { showPath } from "../../lib/yaml-format.ts";
import { PolicyError } from "./errors.ts";
import { controlsOf, parsePolicy } from "./parse.ts";
import { attestationDefinition, booleanDefinition, policyDump } from "./print.ts";

const schema = "_schema: https://example.test/schemas/policy/v1\n";

function failure(text: string): PolicyError {
  try {
    parsePolicy(text);
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error(`Accepted: ${text.slice(0, 200)}`);
}

function mistakes(text: string): Record<string, string> {
  return Object.fromEntries(
    failure(text).issues.map(({ path, reasons }) => [showPath(path), reasons.join("; ")]),
  );
}

const full = `_schema: https://docs.kosli.com/schemas/policy/v1
artifacts:
  provenance:
    required: true
    exceptions:
      - if: \${{ matches(artifact.name, "^sidecar:.*") }}
      - if: {text: "flow.tags.kind != 'build'", note: anything may stand here}
  trail-compliance:
    required: true
  attestations:
    - type: pull_request
    - name: unit-test
      type: junit
      if: \${{ flow.name == "web-ci" and not flow.tags.risk-level >= 2 }}
      must_be_compliant: false
    - {name: coverage, type: "*"}
    - type: custom:load-test
      if: null
    - type: decision
      for_control: SDLC-1.2
`;

describe("parsePolicy", () => {
  it("reads all a policy can say", () => {
    const policy = parsePolicy(full);
    expect(policyDump(policy)).toEqual({
      schema_version: "1",
      artifacts: {
        provenance: {
          required: true,
          exceptions: [
            { if_condition: { text: 'matches(artifact.name, "^sidecar:.*")' } },
            { if_condition: { text: "flow.tags.kind != 'build'" } },
          ],
        },
        trail_compliance: { required: true, exceptions: [] },
        attestations: [
          { if_condition: null, name: "*", type: "pull_request", must_be_compliant: true, for_control: null },
          {
            if_condition: { text: 'flow.name == "web-ci" and not flow.tags.risk-level >= 2' },
            name: "unit-test",
            type: "junit",
            must_be_compliant: false,
            for_control: null,
          },
          { if_condition: null, name: "coverage", type: "*", must_be_compliant: true, for_control: null },
          {
            if_condition: null,
            name: "*",
            type: "custom:load-test",
            must_be_compliant: true,
            for_control: null,
          },
          {
            if_condition: null,
            name: "*",
            type: "decision",
            must_be_compliant: true,
            for_control: "SDLC-1.2",
          },
        ],
      },
    });
    expect([...controlsOf(policy)]).toEqual([["SDLC-1.2", ["artifacts", "attestations", 4, "for_control"]]]);
  });

  it("shows rules as definitions", () => {
    const { artifacts } = parsePolicy(full);
    expect(booleanDefinition(artifacts.provenance)).toEqual({
      required: true,
      exceptions: [
        { if: { text: 'matches(artifact.name, "^sidecar:.*")' } },
        { if: { text: "flow.tags.kind != 'build'" } },
      ],
    });
    expect(artifacts.attestations.map(attestationDefinition)[4]).toEqual({
      if: null,
      name: "*",
      type: "decision",
      must_be_compliant: true,
      for_control: "SDLC-1.2",
    });
    expect(artifacts.attestations.map(attestationDefinition)[1]?.if).toEqual({
      text: 'flow.name == "web-ci" and not flow.tags.risk-level >= 2',
    });
  });

  it.each([
    schema,
    "_schema: https://docs.kosli.com/schemas/policy/v1",
    "_schema: https://kosli.com/schemas/policy/environment/v1",
    "_schema: http://localhost:8001/v1",
    "_schema: https://x.test/v1?a=b#c",
    `${schema}artifacts: {}`,
    `${schema}artifacts: {provenance: {}, trail-compliance: {}, attestations: []}`,
    `${schema}artifacts: {provenance: {required: false, exceptions: []}}`,
  ])("fills in the defaults of %j", (text) => {
    expect(policyDump(parsePolicy(text))).toEqual({
      schema_version: "1",
      artifacts: {
        provenance: { required: false, exceptions: [] },
        trail_compliance: { required: false, exceptions: [] },
        attestations: [],
      },
    });
  });

  it("keeps an exception without a condition", () => {
    const text = `${schema}artifacts: {provenance: {required: true, exceptions: [{}, {if: null}]}}`;
    expect(booleanDefinition(parsePolicy(text).artifacts.provenance).exceptions).toEqual([
      { if: null },
      { if: null },
    ]);
  });

  const types = "Input should be 'generic', 'junit', 'snyk', 'pull_request', 'jira', 'sonar', 'decision', '*' or 'custom:<type name>'"; // prettier-ignore
  const anyAny = "An attestation rule needs a name or a type: they must not both be '*'";

  it.each([
    ["", { "": "Input should be a valid dictionary" }],
    ["[]", { "": "Input should be a valid dictionary" }],
    ["text", { "": "Input should be a valid dictionary" }],
    ["{}", { _schema: "Field required" }],
    ["_schema: 1", { _schema: "Input should be a valid string" }],
    ["_schema: v1", { _schema: "Input should be a valid URL" }],
    ["_schema: file:///v1", { _schema: "Input should be a valid URL" }],
    ["_schema: https://x.test/", { _schema: "The URL's path should end with /v1" }],
    ["_schema: https://x.test/v1/", { _schema: "The URL's path should end with /v1" }],
    ["_schema: https://x.test/?/v1", { _schema: "The URL's path should end with /v1" }],
    [
      "_schema: https://x.test/v2",
      { _schema: "Version v2 is not supported; the URL's path should end with /v1" },
    ],
    [
      "_schema: https://x.test/v11",
      { _schema: "Version v11 is not supported; the URL's path should end with /v1" },
    ],
    [`${schema}extra: 1`, { extra: "Extra inputs are not permitted" }],
    [`${schema}artifacts:`, { artifacts: "Input should be a valid dictionary" }],
    [`${schema}artifacts: []`, { artifacts: "Input should be a valid dictionary" }],
    [
      `${schema}artifacts: {trail_compliance: {}}`,
      { "artifacts.trail_compliance": "Extra inputs are not permitted" },
    ],
    [
      `${schema}artifacts: {provenance: true}`,
      { "artifacts.provenance": "Input should be a valid dictionary" },
    ],
    [
      `${schema}artifacts: {provenance: {required: "yes", exceptions: {}, if: x}}`,
      {
        "artifacts.provenance.required": "Input should be a valid boolean",
        "artifacts.provenance.exceptions": "Input should be a valid list",
        "artifacts.provenance.if": "Extra inputs are not permitted",
      },
    ],
    [
      `${schema}artifacts: {trail-compliance: {exceptions: [x, {if: true}, {if: {}}, {if: {text: 1}}, {unless: x}]}}`,
      {
        "artifacts.trail-compliance.exceptions[0]": "Input should be a valid dictionary",
        "artifacts.trail-compliance.exceptions[1].if":
          "Input should be an expression such as ${{ exists(flow) }}",
        "artifacts.trail-compliance.exceptions[2].if.text": "Field required",
        "artifacts.trail-compliance.exceptions[3].if.text": "Input should be a valid string",
        "artifacts.trail-compliance.exceptions[4].unless": "Extra inputs are not permitted",
      },
    ],
    [
      `${schema}artifacts: {attestations: null}`,
      { "artifacts.attestations": "Input should be a valid list" },
    ],
    [
      `${schema}artifacts: {attestations: [x]}`,
      { "artifacts.attestations[0]": "Input should be a valid dictionary" },
    ],
    [`${schema}artifacts: {attestations: [{}]}`, { "artifacts.attestations[0].type": "Field required" }],
    [
      `${schema}artifacts: {attestations: [{type: 1}]}`,
      { "artifacts.attestations[0].type": "Input should be a valid string" },
    ],
    [
      `${schema}artifacts: {attestations: [{type: pull-request}]}`,
      { "artifacts.attestations[0].type": types },
    ],
    [`${schema}artifacts: {attestations: [{type: Junit}]}`, { "artifacts.attestations[0].type": types }],
    [`${schema}artifacts: {attestations: [{type: "*"}]}`, { "artifacts.attestations[0]": anyAny }],
    [`${schema}artifacts: {attestations: [{type: "*", name: "*"}]}`, { "artifacts.attestations[0]": anyAny }],
    [
      `${schema}artifacts: {attestations: [{type: junit, name: 1}, {type: junit, name: ""}, {type: junit, name: null}]}`,
      {
        "artifacts.attestations[0].name": "Input should be a valid string",
        "artifacts.attestations[1].name": "String should have at least 1 character",
        "artifacts.attestations[2].name": "Input should be a valid string",
      },
    ],
    [
      `${schema}artifacts: {attestations: [{type: junit, name: ${"x".repeat(513)}}]}`,
      { "artifacts.attestations[0].name": "String should have at most 512 characters" },
    ],
    [
      `${schema}artifacts: {attestations: [{type: junit, must_be_compliant: null, exceptions: []}]}`,
      {
        "artifacts.attestations[0].must_be_compliant": "Input should be a valid boolean",
        "artifacts.attestations[0].exceptions": "Extra inputs are not permitted",
      },
    ],
    [
      `${schema}artifacts: {attestations: [{type: junit, for_control: x}, {name: x, type: "*", for_control: x}]}`,
      {
        "artifacts.attestations[0].for_control": "for_control is only allowed with type 'decision'",
        "artifacts.attestations[1].for_control": "for_control is only allowed with type 'decision'",
      },
    ],
    [
      `${schema}artifacts: {attestations: [{type: decision, for_control: 1}, {type: decision, for_control: "a b"}]}`,
      {
        "artifacts.attestations[0].for_control": "Input should be a valid string",
        "artifacts.attestations[1].for_control": String.raw`String should match pattern '^[a-zA-Z0-9\-._~]+$'`,
      },
    ],
    [
      `${schema}artifacts: {attestations: [{type: junit, if: "\${{ flow.name }}"}, {type: junit, if: {text: "\${{ x( }}"}}]}`,
      {
        "artifacts.attestations[0].if":
          "Invalid expression at line 1, column 1: Expected a condition, found a text; compare it with something",
        "artifacts.attestations[1].if.text":
          "Invalid expression at line 1, column 1: Unknown function 'x'; known are exists and matches",
      },
    ],
    [
      `${schema}artifacts: {attestations: [{type: junit, if: ""}]}`,
      { "artifacts.attestations[0].if": "Invalid expression at line 1, column 1: Expression is empty" },
    ],
    ["a: 1\na: 2", { "": "Invalid YAML: Key 'a' is given twice (line 2)" }],
    ["a: 1\n---\nb: 2", { "": "Invalid YAML: Expected one document, found more" }],
    ["_schema: !url x", { "": "Invalid YAML: Unresolved tag: !url (line 1)" }],
    ["x".repeat(65_537), { "": "Invalid YAML: Text is longer than 65536 characters" }],
  ])("refuses %j", (text, errors) => {
    expect(mistakes(text)).toEqual(errors);
  });

  it.each(["a: [", "\t- a", "a: 'x", "*a", "[".repeat(1000)])("refuses the malformed text %j", (text) => {
    expect(mistakes(text)[""]).toMatch(/^Invalid YAML: ./);
  });

  it("names at most 50 mistakes", () => {
    const rules = Array.from({ length: 300 }, () => "{type: x}").join(",");
    expect(failure(`${schema}artifacts: {attestations: [${rules}]}`).issues).toHaveLength(50);
  });

  it("stops where aliases repeat conditions too often", () => {
    const condition = Array.from({ length: 300 }, () => "exists(flow)").join(" or ");
    const repeated = (count: number) =>
      `${schema}artifacts: {attestations: [&a {type: junit, if: ${condition}}${", *a".repeat(count)}]}`;
    expect(parsePolicy(repeated(9)).artifacts.attestations).toHaveLength(10);
    expect(mistakes(repeated(3000))).toEqual({
      "artifacts.attestations[13].if": "The conditions of the policy are too long together",
    });
  });

  it("counts rules and exceptions, each alias as what it stands for", () => {
    const reason = "A policy may have at most 500 rules and exceptions together";
    const rules = (count: number) => `attestations: [&r {name: a, type: generic}${",*r".repeat(count - 1)}]`;
    const policy = (...parts: string[]) => `${schema}artifacts: {${parts.join(", ")}}`;
    const exceptions = (count: number) => `exceptions: [&e {if: exists(flow)}${",*e".repeat(count - 1)}]`;
    expect(parsePolicy(policy(rules(500))).artifacts.attestations).toHaveLength(500);
    expect(mistakes(policy(rules(501)))).toEqual({ "artifacts.attestations[500]": reason });
    const attack = policy(rules(3900));
    expect(attack.length).toBeLessThan(12 * 1024);
    expect(mistakes(attack)).toEqual({ "artifacts.attestations[500]": reason });
    const both = (count: number) =>
      policy(`provenance: {required: true, ${exceptions(count)}}`, `trail-compliance: {${exceptions(200)}}`);
    expect(mistakes(both(300))).toEqual({ "artifacts.trail-compliance.exceptions[199]": reason });
    expect(parsePolicy(both(299)).artifacts.provenance.exceptions).toHaveLength(299);
    // What was stored before there was a limit is read, so that it can be detached and replaced.
    expect(parsePolicy(attack, "stored").artifacts.attestations).toHaveLength(3900);
  });

  it("stops where the regular expressions of one rule cost too much together", () => {
    const pattern = (length: number) => `matches(flow.name, 'x{${length}}')`;
    const policy = (length: number) =>
      `${schema}artifacts: {provenance: {exceptions: [${Array.from({ length: 4 }, () => `{if: "${pattern(length)}"}`).join(",")}]}}`;
    expect(parsePolicy(policy(900)).artifacts.provenance.exceptions).toHaveLength(4);
    const tooLarge = "The regular expressions of the rule are too large together";
    const many = `matches(flow.name, 'x{900}') or `.repeat(4) + pattern(900);
    expect(mistakes(`${schema}artifacts: {attestations: [{type: junit, if: "${many}"}]}`)).toEqual({
      "artifacts.attestations[0].if": tooLarge,
    });
  });

  it("stops where regular expressions cost too much together", () => {
    const rule = (index: number) => `{type: junit, if: "matches(flow.name, 'x{900}${index}')"}`;
    const rules = (count: number) => Array.from({ length: count }, (_, index) => rule(index)).join(",");
    const policy = (count: number) => `${schema}artifacts: {attestations: [${rules(count)}]}`;
    expect(parsePolicy(policy(50)).artifacts.attestations).toHaveLength(50);
    expect(mistakes(policy(100))).toEqual({
      "artifacts.attestations[55].if": "The regular expressions of the policy are too large together",
    });
  });
});

describe("properties", () => {
  it("throws nothing but its own error, for any document", () => {
    const leaf = fc.oneof(
      fc.constantFrom(
        "*",
        "junit",
        "decision",
        "custom:x",
        "exists(flow)",
        "${{ x }}",
        "https://x.test/v1",
        "",
        "1",
      ),
      fc.boolean(),
      fc.integer(),
      fc.constant(null),
    );
    const key = fc.constantFrom("_schema", "artifacts", "provenance", "trail-compliance", "attestations", "required", "exceptions", "if", "text", "name", "type", "must_be_compliant", "for_control", "__proto__", "x"); // prettier-ignore
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        leaf,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 5 }),
      ),
    }));
    const document = fc.oneof(
      value.map((json) => JSON.stringify(json)),
      fc
        .dictionary(fc.constantFrom("provenance", "trail-compliance", "attestations"), value)
        .map((artifacts) => JSON.stringify({ _schema: "https://x.test/v1", artifacts })),
      fc.string({ unit: "binary", maxLength: 60 }),
    );
    fc.assert(
      fc.property(document, (text) => {
        try {
          expect(policyDump(parsePolicy(text)).schema_version).toBe("1");
        } catch (error) {
          expect(error).toBeInstanceOf(PolicyError);
          expect((error as PolicyError).issues.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
