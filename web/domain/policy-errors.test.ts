import { describe, expect, it } from "vitest";

import { problemsInText } from "./policy-errors.ts";

const text = `# what we ask
_schema: https://x.test/v1
artifacts:
  provenance:
    required: maybe
    exceptions:
    - if: \${{ matches(artifact.name, "^a") }}
    - if: \${{  flow.nam == "b" }}
  "attestations":
    - type: junit
      name: unit
    -
      type: nonsense # wrong
`;

describe("mistakes of a text", () => {
  it.each([
    ["policy_file.artifacts.provenance.required", "Input should be a valid boolean [input: maybe]", [5, 5]],
    ["policy_file.artifacts.attestations[1].type", "Input should be 'generic' [input: nonsense]", [13, 7]],
    ["policy_file.artifacts.attestations[0].more", "Extra inputs are not permitted [input: 1]", [10, 5]],
    ["policy_file.artifacts.attestations[1]", "An attestation rule needs a name [input: {}]", [12, 5]],
    ["policy_file._schema", "The URL's path should end with /v1 [input: x]", [2, 1]],
    ["policy_file", "Field required [input: None]", [1, 1]],
    ["policy_file.nothing.like[3].it", "Field required [input: None]", [1, 1]],
  ])("finds %s", (place, message, [line, column]) => {
    expect(problemsInText({ [place]: message }, "policy_file", text)).toEqual([
      {
        line,
        column,
        message: message.slice(0, message.indexOf(" [input")),
        part: place.slice("policy_file.".length),
      },
    ]);
  });

  it("finds the column in a condition, and the line of what is no YAML", () => {
    const errors = {
      "policy_file.artifacts.provenance.exceptions[1].if":
        "Invalid expression at line 1, column 6: unknown name 'flow.nam' [input: flow.nam == \"b\"]",
      policy_file: "Invalid YAML: Flow sequence must end with a ] (line 7) [input: None]",
    };
    expect(problemsInText(errors, "policy_file", text)).toEqual([
      { line: 7, column: 1, message: "Invalid YAML: Flow sequence must end with a ]", part: "" },
      {
        line: 8,
        column: text.split("\n")[7]!.indexOf("nam ==") + 1,
        message: "unknown name 'flow.nam'",
        part: "artifacts.provenance.exceptions[1].if",
      },
    ]);
  });

  it("leaves out mistakes in other fields", () => {
    expect(problemsInText({ environments: "wrong", policy_files: "x" }, "policy_file", text)).toEqual([]);
  });
});
