import { judgingProgram, summaryProgram } from "../../../domain/attestation-types/programs.ts";
import type { TypeDefinition } from "../../../domain/attestation-types/definition.ts";
import { type InputErrors, invalid, invalidInput } from "../../../domain/errors.ts";
import type { Sandbox, Step, StepResult } from "../../../lib/sandbox/sandbox.ts";
import { zip } from "../../../lib/zip.ts";
import { describeLimit, runJob } from "./sandbox.ts";

/** One thing to check, and where in the input its result belongs. */
interface Check {
  step: Step;
  location: string;
  input: string;
}

const maxShownInput = 200;

/** Where the parts of a definition stand in what the caller sent. */
export interface DefinitionLocations {
  schema: string;
  rules: string;
}

/** Where they stand when a type is posted. */
const posted: DefinitionLocations = { schema: "type_schema", rules: "evaluator.rules" };

type Checkable = Pick<TypeDefinition, "type_schema" | "evaluator" | "summary">;

function checksOf({ type_schema, evaluator, summary }: Checkable, at: DefinitionLocations): Check[] {
  const checks: Check[] = [];
  if (type_schema !== null)
    checks.push({
      step: { kind: "check_schema", schema: JSON.stringify(type_schema) },
      location: at.schema,
      input: "",
    });
  const compile = (location: string, input: string, program: string): void => {
    checks.push({ step: { kind: "compile", program }, location, input });
  };
  // Each by itself first: this is what proves that an expression does not end the place it is put into.
  for (const [index, rule] of (evaluator?.rules ?? []).entries()) {
    compile(`${at.rules}[${index}]`, rule, rule);
    compile(`${at.rules}[${index}]`, rule, judgingProgram([rule]));
  }
  for (const [index, item] of (summary ?? []).entries()) {
    compile(`summary[${index}].expression`, item.expression, item.expression);
    compile(`summary[${index}].expression`, item.expression, summaryProgram([item]));
  }
  return checks;
}

function addProblems(errors: InputErrors, { location, input }: Check, result: StepResult): void {
  for (const { path, reason } of result.problems) errors[`${location}${path}`] ??= reason;
  if (result.failure === undefined) return;
  const shown = input.length > maxShownInput ? `${input.slice(0, maxShownInput)}…` : input;
  // The program with what surrounds the expression is only ever the one that fails if the expression is incomplete.
  errors[location] ??= `${result.failure} [input: ${shown}]`;
}

/**
 * Compiles everything a definition holds.
 * @throws AppError invalid naming each schema path, rule and expression that is not usable, with the reason.
 */
export async function checkDefinition(
  sandbox: Sandbox,
  orgId: string,
  definition: Checkable,
  locations: DefinitionLocations = posted,
): Promise<void> {
  const checks = checksOf(definition, locations);
  if (checks.length === 0) return;
  const { results, limit } = await runJob(sandbox, orgId, { steps: checks.map(({ step }) => step) });
  const errors: InputErrors = Object.create(null) as InputErrors;
  for (const [check, result] of zip(checks.slice(0, results.length), results))
    addProblems(errors, check, result);
  if (limit !== undefined) {
    const location = checks[results.length]?.location;
    const reason = describeLimit(limit, sandbox.timeLimit);
    if (location === undefined) throw invalid(`The definition ${reason}`);
    errors[location] ??= `Checking it ${reason}`;
  }
  if (Object.keys(errors).length > 0) throw invalidInput(errors);
}
