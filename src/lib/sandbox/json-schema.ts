import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv/dist/ajv.js";
import addFormats from "ajv-formats";

import { compileLinearPattern, patternProblem } from "./linear-pattern.ts";
import type { Problem } from "./protocol.ts";
import { pointerStep, subschemas } from "./subschemas.ts";

type Json = Record<string, unknown>;

/** How much is told about input that does not fit, and how many validators are kept. */
const limits = { problems: 20, reasonLength: 300, listedInput: 256 * 1024, keptValidators: 32 };

/** Dialects by the URI in `$schema`, which has been written with and without its empty fragment and its `s`. */
const dialects: Record<string, new (options: Options) => Ajv> = {
  "json-schema.org/draft-06/schema": Ajv,
  "json-schema.org/draft-07/schema": Ajv,
  "json-schema.org/schema": Ajv,
  "json-schema.org/draft/2019-09/schema": Ajv2019,
  "json-schema.org/draft/2020-12/schema": Ajv2020,
};

function dialectOf(schema: Json): (new (options: Options) => Ajv) | undefined {
  const uri = schema["$schema"];
  if (uri === undefined) return Ajv;
  if (typeof uri !== "string") return undefined;
  const name = uri.replace(/^https?:\/\//, "").replace(/#$/, "");
  return Object.hasOwn(dialects, name) ? dialects[name] : undefined;
}

const options: Options = {
  // Schemas are written for other validators, too: what this one does not know it ignores.
  strict: false,
  logger: false,
  // Done once, when a schema is checked, by validators that are kept.
  validateSchema: false,
  // References may otherwise multiply the size of a small schema.
  inlineRefs: false,
  verbose: true,
  code: { regExp: Object.assign(compileLinearPattern, { code: "compileLinearPattern" }) },
};

/** Creates an instance for one schema: schemas share none, because their ids may collide. */
function instanceFor(Dialect: new (options: Options) => Ajv, allErrors: boolean): Ajv {
  const ajv = new Dialect({ ...options, allErrors });
  addFormats.default(ajv, { mode: "full", keywords: false });
  ajv.addFormat("regex", (text: string) => patternProblem(text) === undefined);
  // The older name of `$id`, which the library refuses; the specification has it ignored.
  ajv.removeKeyword("id");
  return ajv;
}

/** Validators of schemas themselves, by dialect. */
const metaValidators = new Map<unknown, Ajv>();

function metaValidator(Dialect: new (options: Options) => Ajv): Ajv {
  const kept = metaValidators.get(Dialect) ?? new Dialect({ ...options, allErrors: true });
  metaValidators.set(Dialect, kept);
  return kept;
}

/** Leaves out `$schema`: the dialect is chosen already, and a validator of one refuses the name of another. */
function withoutDialect(schema: Json): Json {
  const { $schema: _dialect, ...rest } = schema;
  return rest;
}

function details(error: ErrorObject): string {
  const { keyword, params } = error as { keyword: string; params: Json };
  if (keyword === "additionalProperties") return `: ${String(params["additionalProperty"])}`;
  if (keyword === "unevaluatedProperties") return `: ${String(params["unevaluatedProperty"])}`;
  if (keyword === "enum") return `: ${JSON.stringify(params["allowedValues"])}`;
  if (keyword === "const") return `: ${JSON.stringify(params["allowedValue"])}`;
  return "";
}

function problemOf(error: ErrorObject): Problem {
  const reason = `${error.message ?? error.keyword}${details(error)}`;
  return { path: error.instancePath, reason: reason.slice(0, limits.reasonLength) };
}

function problemsOf(errors: readonly ErrorObject[] | null | undefined): Problem[] {
  return (errors ?? []).slice(0, limits.problems).map(problemOf);
}

function compileProblem(schema: Json, error: unknown): Problem {
  const missing = (error as { missingRef?: unknown }).missingRef;
  if (typeof missing === "string") {
    const holder = [...subschemas(schema)].find(({ schema: { $ref } }) => $ref === missing);
    const reason = `can't resolve reference ${missing}: nothing outside of the schema is fetched`;
    return { path: holder === undefined ? "" : `${holder.path}/$ref`, reason };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { path: "", reason: reason.slice(0, limits.reasonLength) };
}

/** Finds patterns that are invalid, and a keyword that has a special meaning to the library. */
function* contentProblems(schema: Json): Generator<Problem> {
  for (const { path, schema: part } of subschemas(schema)) {
    const { pattern, patternProperties, $async: asynchronous } = part;
    const problem = typeof pattern === "string" ? patternProblem(pattern) : undefined;
    if (problem !== undefined) yield { path: `${path}/pattern`, reason: problem };
    for (const key of Object.keys(patternProperties ?? {})) {
      const reason = patternProblem(key);
      if (reason !== undefined) yield { path: `${path}/patternProperties${pointerStep(key)}`, reason };
    }
    // A validator that answers later, and with something that looks like true at first.
    if (asynchronous === true) yield { path: `${path}/$async`, reason: "is not supported" };
  }
}

/** Checks that a JSON value is a usable JSON Schema. @returns what is wrong where; nothing when it is usable. */
export function checkSchema(schema: Json): Problem[] {
  const Dialect = dialectOf(schema);
  if (Dialect === undefined)
    return [
      {
        path: "/$schema",
        reason: `must be a known dialect: http://json-schema.org/draft-07/schema# or https://json-schema.org/draft/2020-12/schema`,
      },
    ];
  const bare = withoutDialect(schema);
  const meta = metaValidator(Dialect);
  if (meta.validateSchema(bare) !== true) return problemsOf(meta.errors);
  const problems = [...contentProblems(bare)].slice(0, limits.problems);
  if (problems.length > 0) return problems;
  try {
    instanceFor(Dialect, true).compile(bare);
    return [];
  } catch (error) {
    return [compileProblem(bare, error)];
  }
}

interface Validator {
  first: ValidateFunction;
  /** Made when first needed. */
  all: ValidateFunction | undefined;
}

function compile(schema: string, allErrors: boolean): ValidateFunction {
  const parsed = JSON.parse(schema) as Json;
  const ajv = instanceFor(dialectOf(parsed) ?? Ajv, allErrors);
  return ajv.compile(withoutDialect(parsed));
}

/**
 * Makes a function that checks a JSON text against a schema that was found usable. Compiled schemas are kept for the
 * next call. A large input is checked up to its first mistake only, because a list of all may be larger still.
 */
export function createValidators(): (schema: string, input: string) => Problem[] {
  const kept = new Map<string, Validator>();
  return (schema, input) => {
    const validator = kept.get(schema) ?? { first: compile(schema, false), all: undefined };
    kept.delete(schema);
    kept.set(schema, validator);
    // The oldest entry is the one least recently used.
    const [oldest] = kept.keys();
    if (kept.size > limits.keptValidators && oldest !== undefined) kept.delete(oldest);
    const value: unknown = JSON.parse(input);
    if (validator.first(value)) return [];
    if (input.length > limits.listedInput) return problemsOf(validator.first.errors);
    validator.all ??= compile(schema, true);
    validator.all(value);
    return problemsOf(validator.all.errors ?? validator.first.errors);
  };
}
