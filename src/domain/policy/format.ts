import {
  atMost,
  boolean,
  described,
  type DocumentFormat,
  documentSchema,
  type Format,
  type JsonSchema,
  list,
  mapping,
  matching,
  type Place,
  storable,
  text,
  type TextRule,
} from "../../lib/yaml-format.ts";
import { parseUrl } from "../../lib/url.ts";
import { controlIdentifierPattern, maxNameLength } from "../names.ts";
import { attestationTypes, expectedTypeSchema, isExpectedType } from "../template/model.ts";
import { ExpressionError, PolicyError } from "./errors.ts";
import { parseExpression, unwrapExpression } from "./expression/parser.ts";
import { programSize } from "./expression/regex.ts";
import { anything, type Condition } from "./model.ts";
import { maxRules } from "./size.ts";

/** Room for all rules that a policy may have. Reading YAML takes about a microsecond for each character, in which nothing else is done. */
const limits = { maxLength: 64 * 1024, maxValues: 20_000 };

/** UTF-16 units of all conditions together, which no text reaches but by aliases. */
const maxConditionsLength = limits.maxLength;

/** Instructions of all regular expressions together, which bounds what one policy costs to read and to evaluate. */
const maxProgramSize = 50_000;
/** The same in one rule, which is evaluated in one go. */
const maxRuleProgramSize = 4000;

/** Who wrote a policy: somebody now, or somebody when other limits were in force. */
export type Origin = "new" | "stored";

/** What was read of a policy so far, held against what one policy may cost. */
class Budget {
  readonly #isNew: boolean;
  #rules = 0;
  #ruleProgramSize = 0;
  #conditionsLength = 0;
  #programSize = 0;

  constructor(origin: Origin) {
    this.#isNew = origin === "new";
  }

  /** Counts a rule or an exception. Aliases count as what they stand for: a rule judges as often as it is repeated. */
  count(place: Place): void {
    this.#rules += 1;
    if (this.#isNew && this.#rules > maxRules)
      place.giveUp(`A policy may have at most ${maxRules} rules and exceptions together`, undefined);
  }

  beginRule(): void {
    this.#ruleProgramSize = 0;
  }

  /** Reads a condition with or without `${{ }}`; undefined, and a mistake, when it is none. */
  readCondition(wrapped: string, place: Place): Condition | undefined {
    this.#conditionsLength += wrapped.length;
    if (this.#conditionsLength > maxConditionsLength)
      place.giveUp("The conditions of the policy are too long together", wrapped);
    const source = unwrapExpression(wrapped);
    try {
      const expression = parseExpression(source);
      this.#countProgram(programSize(expression), place, source);
      return { text: source, expression };
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      place.note(error.message, source);
      return undefined;
    }
  }

  #countProgram(size: number, place: Place, source: string): void {
    this.#ruleProgramSize += size;
    if (this.#isNew && this.#ruleProgramSize > maxRuleProgramSize)
      place.giveUp("The regular expressions of the rule are too large together", source);
    this.#programSize += size;
    if (this.#programSize > maxProgramSize)
      place.giveUp("The regular expressions of the policy are too large together", source);
  }
}

/** Says what is wrong with the URL of a schema. Any will do whose path ends with `/v1`: the version counts, not the place. */
function schemaProblem(value: string): string | undefined {
  const url = parseUrl(value);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return "Input should be a valid URL";
  const version = /\/v(\d+)$/.exec(url.pathname)?.[1];
  if (version === undefined) return "The URL's path should end with /v1";
  return version === "1"
    ? undefined
    : `Version v${version.slice(0, 20)} is not supported; the URL's path should end with /v1`;
}

const types = [...attestationTypes, "decision", anything].map((type) => `'${type}'`);
const unknownType = `Input should be ${types.join(", ")} or 'custom:<type name>'`;

const knownType: TextRule = {
  problem: (type) => (isExpectedType(type) ? undefined : unknownType),
  schema: expectedTypeSchema,
};

const notEmpty: TextRule = {
  problem: (value) => (value === "" ? "String should have at least 1 character" : undefined),
};

/** Demands what the published schema leaves out, which is about the form of policies. */
function unpublished(rule: TextRule): TextRule {
  return { ...rule, schema: {} };
}

/** What every text of a policy has to be, so that it can be stored. */
const shortText: readonly TextRule[] = [{ ...unpublished(atMost(maxNameLength)), final: true }, storable];

const conditionText = text({ rules: [storable] });

/** Describes a condition: a text, or a mapping with the text under `text` and anything beside it. */
function conditionFormat(budget: Budget): Format<Condition | null> {
  return {
    read(value, place) {
      if (value === undefined || value === null) return null;
      const isMapping = value instanceof Map;
      if (!isMapping && typeof value !== "string") {
        place.note("Input should be an expression such as ${{ exists(flow) }}", value);
        return undefined;
      }
      const at = isMapping ? place.at("text") : place;
      const wrapped = conditionText.read(isMapping ? value.get("text") : value, at);
      return wrapped === undefined ? undefined : budget.readCondition(wrapped, at);
    },
    schema: {
      description: "A condition: `${{ … }}`, or an object with the text between the braces.",
      anyOf: [
        { type: "string", pattern: String.raw`^\s*\$\{\{[\s\S]*\}\}\s*$` },
        { type: "object", required: ["text"], properties: { text: { type: "string" } } },
        { type: "null" },
      ],
    },
  };
}

function requirementFormat(budget: Budget) {
  const exception = mapping({
    name: "Exception",
    description: "Waives the rule where its condition holds.",
    begin: (place) => budget.count(place),
    fields: { if: conditionFormat(budget) },
  });
  return mapping({
    name: "Requirement",
    begin: () => budget.beginRule(),
    fields: {
      required: boolean({ default: false, description: "Whether the rule is in force." }),
      exceptions: list(exception),
    },
    checks: {
      required({ required }, place) {
        if (required) budget.count(place);
      },
    },
  });
}

/** Says that not both name and type are `*`, and that only decisions are about a control. */
const attestationRuleConditions: JsonSchema = {
  allOf: [
    {
      description: "Name and type are not both `*`.",
      if: { properties: { type: { const: anything } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword has this name
      then: { required: ["name"], properties: { name: { not: { const: anything } } } },
    },
    {
      description: "Only decisions are made on controls.",
      if: { required: ["for_control"], properties: { for_control: { type: "string" } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword has this name
      then: { properties: { type: { const: "decision" } } },
    },
  ],
};

function attestationRuleFormat(budget: Budget) {
  const condition = conditionFormat(budget);
  return mapping({
    name: "AttestationRule",
    description: "An attestation that running artifacts need, on themselves or on their trail.",
    begin(place) {
      budget.count(place);
      budget.beginRule();
    },
    fields: {
      type: text({
        description: "Its type; `custom:` with the name of a type of the organization; `*` for any type.",
        rules: [...shortText, knownType],
      }),
      name: text({
        default: anything,
        description: "Its name; `*` for any name.",
        rules: [...shortText, notEmpty],
      }),
      if: { ...condition, schema: { ...condition.schema, default: null } },
      must_be_compliant: boolean({ default: true, description: "False: it need only be there." }),
      for_control: text({
        default: null,
        description: "Identifier of a control. The attestation is then a decision on it.",
        rules: [...shortText, unpublished(matching(controlIdentifierPattern))],
      }),
    },
    checks: {
      name({ type, name = anything }, place, rule) {
        if (type === anything && name === anything)
          place.note("An attestation rule needs a name or a type: they must not both be '*'", rule);
      },
      for_control({ type, for_control }, place, rule) {
        if (for_control !== null && type !== undefined && type !== "decision")
          place
            .at("for_control")
            .note("for_control is only allowed with type 'decision'", rule.get("for_control"));
      },
    },
    schema: attestationRuleConditions,
  });
}

function rootFormat(budget: Budget) {
  const requirement = requirementFormat(budget);
  const artifacts = mapping({
    name: "Artifacts",
    description: "What is asked of every artifact that runs in the environment.",
    fields: {
      provenance: described(requirement, "A flow knows the artifact."),
      "trail-compliance": described(requirement, "The artifact's trail is compliant."),
      attestations: list(attestationRuleFormat(budget)),
    },
  });
  const schemaUrl = text({
    description: "URL of the format; its path ends with the version, `/v1`.",
    rules: [{ problem: schemaProblem, schema: { format: "uri", pattern: "/v1$" } }],
  });
  return mapping({ name: "Policy", fields: { _schema: schemaUrl, artifacts } });
}

/** What a policy says in the keys of its YAML. */
export type PolicyDocument = ReturnType<typeof rootFormat> extends Format<infer T> ? T : never;

/**
 * Describes environment policies, schema version 1, to read one of them.
 * @param origin what was stored may have more rules than is possible now, and is read all the same.
 */
export function policyFormat(origin: Origin): DocumentFormat<PolicyDocument> {
  return { root: rootFormat(new Budget(origin)), limits, error: PolicyError };
}

/**
 * Describes environment policies as JSON Schema.
 * @param $id the URL it is served at.
 */
export function environmentPolicyJsonSchema($id: string): JsonSchema {
  return documentSchema(policyFormat("new"), {
    $id,
    title: "Environment policy",
    description: "What the artifacts in an environment have to fulfil, written in YAML.",
  });
}
