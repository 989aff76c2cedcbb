import { attestationTypes, customTypePattern } from "../../domain/template/model.ts";

const Expression = {
  description: "A condition: `${{ … }}`, or an object with the text between the braces.",
  anyOf: [
    { type: "string", pattern: String.raw`^\s*\$\{\{[\s\S]*\}\}\s*$` },
    { type: "object", required: ["text"], properties: { text: { type: "string" } } },
    { type: "null" },
  ],
};

const Exception = {
  type: "object",
  description: "Waives the rule where its condition holds.",
  additionalProperties: false,
  properties: { if: Expression },
};

const Requirement = {
  type: "object",
  additionalProperties: false,
  properties: {
    required: { type: "boolean", default: false, description: "Whether the rule is in force." },
    exceptions: { type: "array", default: [], items: { $ref: "#/$defs/Exception" } },
  },
};

const AttestationRule = {
  type: "object",
  description: "An attestation that running artifacts need, on themselves or on their trail.",
  additionalProperties: false,
  required: ["type"],
  properties: {
    type: {
      type: "string",
      description: "Its type; `custom:` with the name of a type of the organization; `*` for any type.",
      anyOf: [
        { enum: [...attestationTypes] },
        { pattern: customTypePattern.source },
        { const: "decision" },
        { const: "*" },
      ],
    },
    name: { type: "string", default: "*", description: "Its name; `*` for any name." },
    if: { ...Expression, default: null },
    must_be_compliant: { type: "boolean", default: true, description: "False: it need only be there." },
    for_control: {
      type: ["string", "null"],
      default: null,
      description: "Identifier of a control. The attestation is then a decision on it.",
    },
  },
  allOf: [
    {
      description: "Name and type are not both `*`.",
      if: { properties: { type: { const: "*" } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword has this name
      then: { required: ["name"], properties: { name: { not: { const: "*" } } } },
    },
    {
      description: "Only decisions are made on controls.",
      if: { required: ["for_control"], properties: { for_control: { type: "string" } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword has this name
      then: { properties: { type: { const: "decision" } } },
    },
  ],
};

const Artifacts = {
  type: "object",
  description: "What is asked of every artifact that runs in the environment.",
  additionalProperties: false,
  properties: {
    provenance: { $ref: "#/$defs/Requirement", description: "A flow knows the artifact." },
    "trail-compliance": { $ref: "#/$defs/Requirement", description: "The artifact's trail is compliant." },
    attestations: { type: "array", default: [], items: { $ref: "#/$defs/AttestationRule" } },
  },
};

/**
 * The form of environment policies as JSON Schema 2020-12, for editors.
 * @param id the URL it is served at.
 */
export function environmentPolicyJsonSchema(id: string) {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: id,
    title: "Environment policy",
    description: "What the artifacts in an environment have to fulfil, written in YAML.",
    type: "object",
    additionalProperties: false,
    required: ["_schema"],
    properties: {
      _schema: {
        type: "string",
        format: "uri",
        pattern: "/v1$",
        description: "URL of the format; its path ends with the version, `/v1`.",
      },
      artifacts: { $ref: "#/$defs/Artifacts" },
    },
    $defs: { Artifacts, AttestationRule, Requirement, Exception },
  };
}
