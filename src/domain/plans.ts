import { type Diagnosis, fine, warning } from "./doctor.ts";

/** A step of a plan, as PostgreSQL writes it (`explain (analyze, format json)`); the members that are read here. */
export interface PlanStep {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Actual Total Time"?: number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanStep[];
}

/** A step without conditions, which may have values in them. */
interface PlanOutline {
  step: string;
  table?: string;
  index?: string;
  rows: number;
  loops: number;
  ms: number;
  steps: PlanOutline[];
}

/** What a statement has taken since PostgreSQL counts. */
export interface StatementHistory {
  calls: number;
  /** Milliseconds of running it once, on average. */
  mean_ms: number;
}

/** What a statement took. */
export interface StatementPlan {
  name: string;
  /** Milliseconds of planning it for the first time, and of running it once. */
  planning_ms: number;
  ms: number;
  /** That it answered. */
  rows: number;
  /** Growing tables, and partitions of such, that it read from end to end. */
  whole: string[];
  outline: PlanOutline;
  /** undefined where `pg_stat_statements` is not loaded, or has not seen it. */
  history: StatementHistory | undefined;
}

/** Leaves of a plan what says how it works: types of steps, names of tables and indexes, numbers. */
export function outlineOf(step: PlanStep): PlanOutline {
  const { "Relation Name": table, "Index Name": index, Plans: plans = [] } = step;
  return {
    step: step["Node Type"],
    ...(table === undefined ? {} : { table }),
    ...(index === undefined ? {} : { index }),
    rows: step["Actual Rows"] ?? 0,
    loops: step["Actual Loops"] ?? 0,
    ms: step["Actual Total Time"] ?? 0,
    steps: plans.map(outlineOf),
  };
}

/** A table of fewer rows may be read whole: that is often the fastest way. */
const manyRows = 10_000;

function rowsRead(step: PlanStep): number {
  const rows = step["Actual Rows"] ?? 0;
  const passedOver = (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Index Recheck"] ?? 0);
  return (rows + passedOver) * (step["Actual Loops"] ?? 0);
}

/** Says whether a step goes through a table, or an index of it, from its beginning. */
function isUnbounded(step: PlanStep): boolean {
  const type = step["Node Type"];
  return type === "Seq Scan" || (type.startsWith("Index") && step["Index Cond"] === undefined);
}

/**
 * Lists the tables that a plan read at least half of without a condition on an index: which takes longer with every report.
 * What stopped early, at a limit, has not.
 * @param tables the rows of growing tables, by name.
 */
export function wholeReads(step: PlanStep, tables: ReadonlyMap<string, number>): string[] {
  const table = step["Relation Name"] ?? "";
  const rows = tables.get(table) ?? 0;
  const own = rows >= manyRows && isUnbounded(step) && rowsRead(step) * 2 >= rows ? [table] : [];
  const below = (step.Plans ?? []).flatMap((each) => wholeReads(each, tables));
  return [...new Set([...own, ...below])];
}

const milliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

function historyInWords(history: StatementHistory | undefined): string {
  if (history === undefined) return "";
  const times = history.calls === 1 ? "once" : `${history.calls.toLocaleString("en")} times`;
  return `; run ${times} before, ${milliseconds(history.mean_ms)} on average`;
}

/** Judges a statement by its plan, or by why there is none. */
export function judgePlan(found: StatementPlan | string): Diagnosis {
  if (typeof found === "string")
    return warning(
      found,
      "See whether the database is busy, and look again; then ask for help with a support bundle",
    );
  const answered = `${found.rows} row${found.rows === 1 ? "" : "s"}`;
  const detail = `${milliseconds(found.ms)}, ${answered}${historyInWords(found.history)}`;
  return found.whole.length === 0
    ? fine(detail)
    : warning(
        `${detail}, reads all of ${found.whole.join(", ")}`,
        `Run \`analyze ${found.whole[0]};\` in the database and look again; is an index missing, or not valid?`,
      );
}
