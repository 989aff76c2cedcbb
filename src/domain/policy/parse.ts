import { type ReadYaml, readYaml, YamlError, type YamlMapping, type YamlValue } from "../../lib/yaml.ts";
import { controlIdentifierPattern, maxNameLength } from "../names.ts";
import { attestationTypes, customTypePattern } from "../template/model.ts";
import { ExpressionError, PolicyError } from "./errors.ts";
import { parseExpression } from "./expression/parser.ts";
import { programSize } from "./expression/regex.ts";
import { unwrapExpression } from "./expression/wrapper.ts";
import { anything, type AttestationRule, type BooleanRule, type Condition, type Policy } from "./model.ts";
import { Reader, type Path, type YamlInput } from "./reader.ts";
import { schemaProblem } from "./schema-version.ts";
import { maxRules } from "./size.ts";

/** Room for all rules that a policy may have. Reading YAML takes about a microsecond for each character, in which nothing else is done. */
const limits = { maxLength: 64 * 1024, maxValues: 20_000 };

/** UTF-16 units of all conditions together, which no text reaches but by aliases. */
const maxConditionsLength = limits.maxLength;

/** Instructions of all regular expressions together, which bounds what one policy costs to read and to evaluate. */
const maxProgramSize = 50_000;
/** The same in one rule, which is evaluated in one go. */
const maxRuleProgramSize = 4000;

const types = [...attestationTypes, "decision", anything];
const unknownType = `Input should be ${types.map((type) => `'${type}'`).join(", ")} or 'custom:<type name>'`;

function isType(type: string): boolean {
  return types.includes(type) || customTypePattern.test(type);
}

/** Who wrote a policy: somebody now, or somebody when other limits were in force. */
type Origin = "new" | "stored";

/** Reads a policy part by part. */
class PolicyReader extends Reader {
  readonly #isNew: boolean;
  #rules = 0;
  #ruleProgramSize = 0;
  #conditionsLength = 0;
  #programSize = 0;

  constructor(origin: Origin) {
    super();
    this.#isNew = origin === "new";
  }

  root(value: YamlValue): Policy {
    const root = this.mapping(value, [], ["_schema", "artifacts"]);
    const problem = root === value ? schemaProblem(root.get("_schema")) : undefined;
    if (problem !== undefined) this.note(["_schema"], problem, root.get("_schema"));
    const path = ["artifacts"];
    const known = ["provenance", "trail-compliance", "attestations"];
    const artifacts = root.has("artifacts") ? this.mapping(root.get("artifacts"), path, known) : new Map();
    return {
      schema_version: "1",
      artifacts: {
        provenance: this.#booleanRule(artifacts, "provenance"),
        trail_compliance: this.#booleanRule(artifacts, "trail-compliance"),
        attestations: this.list(artifacts.get("attestations"), [...path, "attestations"], (item, at) =>
          this.#attestationRule(item, at),
        ),
      },
    };
  }

  #booleanRule(artifacts: YamlMapping, key: string): BooleanRule {
    if (!artifacts.has(key)) return { required: false, exceptions: [] };
    const path = ["artifacts", key];
    this.#ruleProgramSize = 0;
    const rule = this.mapping(artifacts.get(key), path, ["required", "exceptions"]);
    const required = this.boolean(rule.get("required"), [...path, "required"], false);
    if (required) this.#count(path);
    return {
      required,
      exceptions: this.list(rule.get("exceptions"), [...path, "exceptions"], (item, at) => {
        this.#count(at);
        return this.#condition(this.mapping(item, at, ["if"]).get("if"), [...at, "if"]);
      }),
    };
  }

  /** Aliases count as what they stand for: the same rule judges as often as it is repeated. */
  #count(path: Path): void {
    this.#rules += 1;
    if (this.#isNew && this.#rules > maxRules)
      this.#giveUp(path, `A policy may have at most ${maxRules} rules and exceptions together`, undefined);
  }

  #attestationRule(value: YamlValue, path: Path): AttestationRule {
    this.#count(path);
    this.#ruleProgramSize = 0;
    const known = ["if", "name", "type", "must_be_compliant", "for_control"];
    const rule = this.mapping(value, path, known);
    const type = rule === value ? this.text(rule.get("type"), [...path, "type"], maxNameLength) : undefined;
    if (type !== undefined && !isType(type)) this.note([...path, "type"], unknownType, type);
    const name = this.#name(rule, path);
    if (type === anything && name === anything)
      this.note(path, "An attestation rule needs a name or a type: they must not both be '*'", value);
    return {
      condition: this.#condition(rule.get("if"), [...path, "if"]),
      name,
      type: type ?? anything,
      must_be_compliant: this.boolean(rule.get("must_be_compliant"), [...path, "must_be_compliant"], true),
      for_control: this.#control(rule, path, type),
    };
  }

  #name(rule: YamlMapping, path: Path): string {
    if (!rule.has("name")) return anything;
    const at = [...path, "name"];
    const name = this.text(rule.get("name"), at, maxNameLength);
    if (name === "") this.note(at, "String should have at least 1 character", name);
    return name ?? anything;
  }

  #control(rule: YamlMapping, path: Path, type: string | undefined): string | null {
    const value = rule.get("for_control") ?? null;
    if (value === null) return null;
    const at = [...path, "for_control"];
    const control = this.text(value, at, maxNameLength);
    if (control !== undefined && !controlIdentifierPattern.test(control))
      this.note(at, `String should match pattern '${controlIdentifierPattern.source}'`, control);
    if (type !== undefined && type !== "decision")
      this.note(at, "for_control is only allowed with type 'decision'", value);
    return control ?? null;
  }

  /** A text, with or without `${{ }}`, or a mapping with the text under `text` and anything beside it. */
  #condition(value: YamlInput, path: Path): Condition | null {
    if (value === undefined || value === null) return null;
    const isMapping = value instanceof Map;
    if (!isMapping && typeof value !== "string") {
      this.note(path, "Input should be an expression such as ${{ exists(flow) }}", value);
      return null;
    }
    const at = isMapping ? [...path, "text"] : path;
    const text = this.text(isMapping ? value.get("text") : value, at, Infinity);
    return text === undefined ? null : this.#expression(text, at);
  }

  #expression(wrapped: string, path: Path): Condition | null {
    this.#conditionsLength += wrapped.length;
    if (this.#conditionsLength > maxConditionsLength)
      this.#giveUp(path, "The conditions of the policy are too long together", wrapped);
    const text = unwrapExpression(wrapped);
    try {
      const expression = parseExpression(text);
      const size = programSize(expression);
      this.#ruleProgramSize += size;
      if (this.#isNew && this.#ruleProgramSize > maxRuleProgramSize)
        this.#giveUp(path, "The regular expressions of the rule are too large together", text);
      this.#programSize += size;
      if (this.#programSize > maxProgramSize)
        this.#giveUp(path, "The regular expressions of the policy are too large together", text);
      return { text, expression };
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.note(path, error.message, text);
      return null;
    }
  }

  /** Reading on would take too long. */
  #giveUp(path: Path, reason: string, input: string | undefined): never {
    throw new PolicyError("Not a policy", [...this.issues, { path, reason, input }]);
  }
}

function explained(error: unknown): unknown {
  if (!(error instanceof YamlError)) return error;
  const place = error.line === undefined ? "" : ` (line ${error.line})`;
  const reason = `Invalid YAML: ${error.message}${place}`;
  return new PolicyError(reason, [{ path: [], reason, input: undefined }]);
}

function policyOf(value: YamlValue, origin: Origin): Policy {
  const reader = new PolicyReader(origin);
  const policy = reader.root(value);
  if (reader.issues.length > 0) throw new PolicyError("Not a policy", reader.issues);
  return policy;
}

function readAtOnce(text: string): YamlValue {
  try {
    return readYaml(text, limits);
  } catch (error) {
    throw explained(error);
  }
}

/**
 * Reads an environment policy, schema version 1. Whether the controls it names exist is not known here: see
 * `controlsOf`.
 * @param origin what was stored may have more rules than is possible now, and is read all the same.
 * @throws PolicyError, and nothing else, with every mistake in the text.
 */
export function parsePolicy(text: string, origin: Origin = "new"): Policy {
  return policyOf(readAtOnce(text), origin);
}

/** The same with the YAML, which takes longest, read elsewhere. @throws what `read` throws beside. */
export async function readPolicy(text: string, read: ReadYaml, origin: Origin = "new"): Promise<Policy> {
  const value = await read(text, limits).catch((error: unknown) => {
    throw explained(error);
  });
  return policyOf(value, origin);
}

/** The identifiers of the controls a policy names, each once, with the place of the first mention. */
export function controlsOf(policy: Policy): Map<string, Path> {
  const controls = new Map<string, Path>();
  for (const [index, { for_control }] of policy.artifacts.attestations.entries())
    if (for_control !== null && !controls.has(for_control))
      controls.set(for_control, ["artifacts", "attestations", index, "for_control"]);
  return controls;
}
