import {
  atMost,
  constant,
  type DocumentFormat,
  documentSchema,
  type Format,
  type JsonSchema,
  list,
  mapping,
  matching,
  orNull,
  type Place,
  type Reasons,
  text,
  type TextRule,
} from "../../lib/yaml-format.ts";
import { attestationNamePattern, maxNameLength, templateReferenceNamePattern } from "../names.ts";
import { TemplateError } from "./errors.ts";
import {
  attestationTypes,
  customTypePattern,
  emptyTemplate,
  expectedTypeSchema,
  isExpectedType,
  type Template,
  type TemplateArtifact,
  type TemplateAttestation,
} from "./model.ts";

/** Room for thousands of expectations. */
const limits = { maxLength: 128 * 1024, maxValues: 20_000 };

/** When a template was given: now, or when attestations could have any name. Then it keeps what it expects. */
export type Origin = "new" | "stored";

function isBlank(name: string): boolean {
  return name.trim() === "";
}

const notBlank: TextRule = {
  problem: (name) =>
    isBlank(name) ? "Name must not be empty: String should have at least 1 character" : undefined,
  schema: { minLength: 1 },
};

/** Demands a pattern of a name, of which one that is blank has been told enough. */
function nameMatching(pattern: RegExp): TextRule {
  const rule = matching(pattern);
  return { ...rule, problem: (name) => (isBlank(name) ? undefined : rule.problem(name)) };
}

const quotedTypes = attestationTypes.map((type) => `'${type}'`);

const unknownType: Reasons = [
  `Input should be ${quotedTypes.slice(0, -1).join(", ")} or ${quotedTypes.at(-1)}`,
  `String should match pattern '${customTypePattern.source}'`,
  "Input should be 'decision'",
  "Input should be '*'",
];

const knownType: TextRule = {
  problem: (type) => (type.length > maxNameLength || !isExpectedType(type) ? unknownType : undefined),
  schema: { maxLength: maxNameLength, ...expectedTypeSchema },
};

function checkUnique(items: readonly ({ name: string } | undefined)[], place: Place): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const name = item?.name;
    if (name === undefined || isBlank(name)) continue;
    if (seen.has(name)) place.at(index).at("name").note("Names must be unique within their list", name);
    seen.add(name);
  }
}

function attestationFormat(origin: Origin): Format<TemplateAttestation> {
  const rules = [notBlank, atMost(maxNameLength)];
  if (origin === "new") rules.push(nameMatching(attestationNamePattern));
  return mapping({
    name: "Attestation",
    description: "An attestation that has to be reported.",
    fields: {
      name: text({
        description: "What reports call it. No other in the same list has this name.",
        rules,
      }),
      type: text({
        description: "Its type; `custom:` with the name of a type of the organization; `*` for any type.",
        rules: [knownType],
      }),
    },
  });
}

function artifactFormat(attestation: Format<TemplateAttestation>): Format<TemplateArtifact> {
  return mapping({
    name: "Artifact",
    description: "An artifact that has to be reported.",
    fields: {
      name: text({
        description:
          "What reports call it, whatever its file or image is named. No other artifact has this name.",
        rules: [notBlank, atMost(maxNameLength), nameMatching(templateReferenceNamePattern)],
      }),
      attestations: list(attestation, {
        description: "The attestations this artifact needs.",
        check: checkUnique,
      }),
    },
  });
}

function trailFormat(attestation: Format<TemplateAttestation>): Format<Template["trail"]> {
  return mapping({
    name: "Trail",
    description: "What every run of the flow has to produce.",
    fields: {
      artifacts: list(artifactFormat(attestation), {
        description: "The artifacts the run has to make.",
        check: checkUnique,
      }),
      attestations: list(attestation, {
        description: "The attestations the run as a whole needs.",
        check: checkUnique,
      }),
    },
  });
}

/** Describes flow templates, schema version 1. */
export function templateFormat(origin: Origin): DocumentFormat<Template> {
  const root = mapping({
    name: "Template",
    fields: {
      version: constant(1, "Version of this format."),
      trail: orNull(trailFormat(attestationFormat(origin)), {
        default: emptyTemplate().trail,
        description: "Left out or null: nothing is expected.",
      }),
    },
  });
  return { root, limits, error: TemplateError };
}

/**
 * Describes flow templates as JSON Schema. It cannot say that names are unique in their list.
 * @param $id the URL it is served at.
 */
export function flowTemplateJsonSchema($id: string): JsonSchema {
  return documentSchema(templateFormat("new"), {
    $id,
    title: "Flow template",
    description: "What the trails of a flow are expected to contain, written in YAML.",
  });
}
