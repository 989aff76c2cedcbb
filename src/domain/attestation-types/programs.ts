import type { SummaryItem } from "./definition.ts";

/**
 * jq programs that evaluate several expressions of a type at once, and readers of their output. An expression is
 * inserted as it is: check before that it is a complete program by itself, or it could break out of its place.
 */

/** Groups of a summary that are evaluated; an array may have a million elements. */
export const maxGroups = 500;

/** Values of one summary expression that are shown. */
const maxValues = 100;

const shownLength = { text: 300, value: 4_000 };

/**
 * Definitions that turn what would end the whole program into an error of one expression. On one line, so that line
 * numbers stay right.
 */
const prelude =
  'def halt: error("halt is not available"); def halt_error: error("halt_error is not available"); ' +
  'def halt_error($status): error("halt_error is not available"); ';

/** Encloses an expression. The empty line ends a comment, also one that a backslash continues. */
function inserted(expression: string): string {
  return `((${expression}\n\n))`;
}

const toText = `(if type == "string" then . else tojson end | .[0:${shownLength.text}])`;

/**
 * Judges a rule by the first value that is not true. Values of `f` are wrapped, so that the null after them marks their
 * end.
 */
const judge =
  `def __judge(f): try first(foreach ((f | [.]), null) as $v (0; . + 1; ` +
  `if $v == null then (if . == 1 then {none: true} else {passed: true} end) ` +
  `elif $v[0] != true then {got: ($v[0] | tojson | .[0:${shownLength.text}])} else empty end)) ` +
  `catch {error: ${toText}}; `;

/** Writes a program that outputs one line for each rule, in order. */
export function judgingProgram(rules: readonly string[]): string {
  return prelude + judge + rules.map((rule) => `__judge(${inserted(rule)})`).join(", ");
}

/** How a rule went: passed, or why not. */
export interface RuleResult {
  rule: string;
  passed: boolean;
  /** Why it did not pass. */
  error?: string;
}

interface Judgement {
  passed?: true;
  none?: true;
  got?: string;
  error?: string;
}

function explain(judgement: Judgement): string {
  if (judgement.error !== undefined) return judgement.error;
  return judgement.none === true ? "yielded nothing" : `yielded ${judgement.got}`;
}

/** A NUL as jq writes it, which no database stores. After an odd number of backslashes it is other text. */
const writtenNul = /(?<!\\)((?:\\\\)*)\\u0000/g;

function readLine(line: string): unknown {
  try {
    return JSON.parse(line.replaceAll(writtenNul, "$1\\ufffd"));
  } catch {
    return undefined;
  }
}

/**
 * Reads the complete lines of output, each a JSON text; undefined for one that is not. A line that was cut off is left
 * out.
 */
function readLines<T>(output: string): (T | undefined)[] {
  return output
    .split("\n")
    .slice(0, -1)
    .map((line) => readLine(line) as T | undefined);
}

/**
 * Reads how each rule went.
 * @param output of the judging program, as far as it came.
 * @param interruption why it came no further: the error of the rule it was at. Those after it were not reached.
 */
export function readJudgements(
  rules: readonly string[],
  output: string,
  interruption: string | undefined,
): RuleResult[] {
  const judgements = readLines<Judgement>(output);
  return rules.map((rule, index) => {
    const judgement = judgements[index];
    if (judgement?.passed === true) return { rule, passed: true };
    if (judgement !== undefined) return { rule, passed: false, error: explain(judgement) };
    const reached = index === judgements.length;
    return { rule, passed: false, error: reached ? (interruption ?? "yielded nothing") : "was not reached" };
  });
}

/** One line of a summary. `value` is what the expression yielded: null for nothing, a list for several values. */
export interface SummaryRow {
  name: string;
  value: unknown;
  /** Why there is no value. */
  error?: string;
}

interface Shown {
  values?: unknown[];
  error?: string;
}

/**
 * Shows the values of an expression. One that is too long becomes the beginning of its text, and so does one that jq
 * would write incompletely, because it is nested too deep: it will be some levels deeper than it is here.
 */
const show =
  `def __show(f): try {values: [limit(${maxValues}; f) | (tojson) as $t | ` +
  `if ($t | length) > ${shownLength.value} or ([[[.]]] | tojson | contains("<skipped: too deep>")) ` +
  `then ((if type == "string" then . else $t end) | .[0:${shownLength.value}] + "…") else . end]} ` +
  `catch {error: ${toText}}; `;

/**
 * Writes a program that outputs one line for each group: for each element of an array, or one for anything else. One more
 * than are shown tells that there are more.
 */
export function summaryProgram(summary: readonly SummaryItem[]): string {
  const rows = summary.map(({ expression }) => `__show(${inserted(expression)})`).join(", ");
  return `${prelude}${show}limit(${maxGroups + 1}; if type == "array" then .[] else . end) | [${rows}]`;
}

function rowOf(name: string, shown: Shown | undefined): SummaryRow {
  if (shown?.values === undefined) return { name, value: null, error: shown?.error ?? "yielded nothing" };
  const { values } = shown;
  return { name, value: values.length > 1 ? values : (values[0] ?? null) };
}

/** Reads the groups that a summary program wrote, as far as it came. */
export function readSummary(summary: readonly SummaryItem[], output: string): SummaryRow[][] {
  return readLines<Shown[]>(output).map((group) =>
    summary.map(({ name }, index) => rowOf(name, group?.[index])),
  );
}
