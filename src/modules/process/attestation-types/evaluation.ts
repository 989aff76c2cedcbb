import type { TypeDefinition } from "../../../domain/attestation-types/definition.ts";
import {
  judgingProgram,
  maxGroups,
  readJudgements,
  readSummary,
  type RuleResult,
  summaryProgram,
  type SummaryRow,
} from "../../../domain/attestation-types/programs.ts";
import { invalid } from "../../../domain/errors.ts";
import { writeJson } from "../../../lib/exact-json.ts";
import type { Problem, Step } from "../../../lib/sandbox/sandbox.ts";
import type { Deps } from "../../kernel/deps.ts";
import { describeLimit, runJob } from "./sandbox.ts";

/** A version of a type, as far as data are judged by it. */
export interface JudgingType extends Pick<TypeDefinition, "type_schema" | "evaluator"> {
  org_id: string;
}

export interface Judgement {
  is_compliant: boolean;
  /** Where the data do not fit the schema: the data are to be refused, and no rule was tried. */
  schema_errors?: Problem[];
  /** One for each rule, in order. */
  rule_results: RuleResult[];
}

/** Most characters that data may have as JSON text: what the limits of time and memory leave room for. */
const maxInput = 10 * 1024 * 1024;

/**
 * Writes data as input for jq, exact JSON as it was written: rules see every digit.
 * @throws AppError invalid for data larger than 10 MB.
 */
function toInput(data: unknown): string {
  const input = writeJson(data);
  if (input.length > maxInput) throw invalid("Attestation data are larger than 10 MB");
  return input;
}

/**
 * Judges data by a version of a type (contract 8.4): they have to fit its schema, then each rule has to yield true, and
 * nothing but true. A rule that fails, or that takes too much, is not complied with. Changes nothing.
 * @throws AppError invalid for data larger than 10 MB, unavailable when too much is waiting or the machine is too busy.
 */
export async function judgeCustomData(
  deps: Pick<Deps, "sandbox">,
  type: JudgingType,
  data: unknown,
): Promise<Judgement> {
  const rules = type.evaluator?.rules ?? [];
  const steps: Step[] = [];
  if (type.type_schema !== null) steps.push({ kind: "validate", schema: JSON.stringify(type.type_schema) });
  if (rules.length > 0) steps.push({ kind: "run", program: judgingProgram(rules) });
  if (steps.length === 0) return { is_compliant: true, rule_results: [] };
  const job = { input: toInput(data), steps };
  const { results, output, limit } = await runJob(deps.sandbox, type.org_id, job);
  const reason = limit && describeLimit(limit, deps.sandbox.timeLimit);
  if (steps[0]?.kind === "validate") {
    const problems = results[0]?.problems ?? [{ path: "", reason: `Checking it ${reason}` }];
    if (problems.length > 0) return { is_compliant: false, schema_errors: problems, rule_results: [] };
  }
  const rule_results = readJudgements(rules, output, reason ?? results.at(-1)?.failure);
  return { is_compliant: rule_results.every(({ passed }) => passed), rule_results };
}

export interface Summary {
  /** One group of rows for each element of an array, one group for anything else. */
  groups: SummaryRow[][];
  /** Why there are not as many groups as there are elements. */
  incomplete?: string;
}

/**
 * Works out a version's summary of data. Values are as jq yields them: addresses are text, and whoever shows them makes
 * links of them.
 * @throws AppError as `judgeCustomData`.
 */
export async function summarize(
  deps: Pick<Deps, "sandbox">,
  type: Pick<TypeDefinition, "summary"> & { org_id: string },
  data: unknown,
): Promise<Summary> {
  const { summary } = type;
  if (summary === null) return { groups: [] };
  const job = { input: toInput(data), steps: [{ kind: "run" as const, program: summaryProgram(summary) }] };
  const { results, output, limit } = await runJob(deps.sandbox, type.org_id, job);
  const all = readSummary(summary, output);
  const groups = all.slice(0, maxGroups);
  const cut =
    limit === undefined ? results[0]?.failure : `It ${describeLimit(limit, deps.sandbox.timeLimit)}`;
  if (cut !== undefined) return { groups, incomplete: cut };
  if (all.length > groups.length)
    return { groups, incomplete: `Only the first ${maxGroups} elements are shown` };
  return { groups };
}
