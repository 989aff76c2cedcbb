import type { Database } from "../../src/db/connect.ts";

/** Makes plans that do not look at values, as kept ones are, of the named statements that `run` sends over its only connection. @returns them by name, as texts. */
export async function keptPlans(
  { pool }: Database,
  run: () => Promise<unknown>,
): Promise<Map<string, string>> {
  await run();
  await pool.query("set plan_cache_mode = force_generic_plan");
  const { rows } = await pool.query<{ name: string; parameters: number }>(
    "select name, cardinality(parameter_types) as parameters from pg_prepared_statements",
  );
  const plans = new Map<string, string>();
  for (const { name, parameters } of rows) {
    const values = Array.from({ length: parameters }, () => "null").join(", ");
    const plan = await pool.query<{ "QUERY PLAN": string }>(
      `explain execute "${name}"${values === "" ? "" : ` (${values})`}`,
    );
    plans.set(name, plan.rows.map((row) => row["QUERY PLAN"]).join("\n"));
  }
  await pool.query("reset plan_cache_mode");
  return plans;
}
