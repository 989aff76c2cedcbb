import { attestationNamePattern, maxNameLength, templateReferenceNamePattern } from "../names.ts";
import { attestationTypes, customTypePattern } from "./model.ts";

const Attestation = {
  type: "object",
  description: "An attestation that has to be reported.",
  additionalProperties: false,
  required: ["name", "type"],
  properties: {
    name: {
      type: "string",
      minLength: 1,
      maxLength: maxNameLength,
      pattern: attestationNamePattern.source,
      description: "What reports call it. No other in the same list has this name.",
    },
    type: {
      type: "string",
      maxLength: maxNameLength,
      description: "Its type; `custom:` with the name of a type of the organization; `*` for any type.",
      anyOf: [
        { enum: [...attestationTypes] },
        { pattern: customTypePattern.source },
        { const: "decision" },
        { const: "*" },
      ],
    },
  },
};

const Artifact = {
  type: "object",
  description: "An artifact that has to be reported.",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: {
      type: "string",
      minLength: 1,
      maxLength: maxNameLength,
      pattern: templateReferenceNamePattern.source,
      description:
        "What reports call it, whatever its file or image is named. No other artifact has this name.",
    },
    attestations: {
      type: "array",
      default: [],
      items: { $ref: "#/$defs/Attestation" },
      description: "The attestations this artifact needs.",
    },
  },
};

const Trail = {
  type: "object",
  description: "What every run of the flow has to produce.",
  additionalProperties: false,
  properties: {
    attestations: {
      type: "array",
      default: [],
      items: { $ref: "#/$defs/Attestation" },
      description: "The attestations the run as a whole needs.",
    },
    artifacts: {
      type: "array",
      default: [],
      items: { $ref: "#/$defs/Artifact" },
      description: "The artifacts the run has to make.",
    },
  },
};

/**
 * The rules of `parseTemplate` as JSON Schema 2020-12, for editors. It cannot say that names are unique in their list.
 * @param id the URL it is served at.
 */
export function flowTemplateJsonSchema(id: string) {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: id,
    title: "Flow template",
    description: "What the trails of a flow are expected to contain, written in YAML.",
    type: "object",
    additionalProperties: false,
    properties: {
      version: { type: "integer", const: 1, default: 1, description: "Version of this format." },
      trail: {
        anyOf: [{ $ref: "#/$defs/Trail" }, { type: "null" }],
        default: { attestations: [], artifacts: [] },
        description: "Left out or null: nothing is expected.",
      },
    },
    $defs: { Attestation, Artifact, Trail },
  };
}
