import pg from "pg";

import type { Database } from "./connect.ts";
import type { Sent } from "./executor.ts";

/** Writes an item of an array as PostgreSQL reads it inside of one. */
function itemOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return `{${value.map(itemOf).join(",")}}`;
  return `"${textOf(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  return Array.isArray(value) ? itemOf(value) : String(value);
}

/** Writes a value of a parameter as a literal of no certain type, which PostgreSQL takes for whatever the parameter is. */
function literalOf(value: unknown): string {
  return value === null || value === undefined ? "null" : pg.escapeLiteral(textOf(value));
}

/** What PostgreSQL says of a statement: its plan as `explain (format json)` writes it, and milliseconds. */
interface Explained {
  Plan: object;
  "Planning Time": number;
  "Execution Time": number;
  /** By which `pg_stat_statements` knows it, as digits; undefined where PostgreSQL computes none. */
  queryId: string | undefined;
}

/** Reads what was explained. The identifier has more digits than a number holds. */
function readExplained(text: string): Explained {
  const [explained] = JSON.parse(text) as [Omit<Explained, "queryId">];
  return { ...explained, queryId: /^\s*"Query Identifier": (-?\d+)/m.exec(text)?.[1] };
}

/** Takes a column as the text that it came in. */
const asText = { getTypeParser: () => String };

/**
 * Runs a statement once in a transaction that can write nothing and is rolled back, by the plan that prepared statements get for all
 * values. @param ms how long it may take.
 * @throws what PostgreSQL refuses it with.
 */
export async function explain(db: Database, { text, values }: Sent, ms: number): Promise<Explained> {
  const client = await db.direct.connect();
  try {
    await client.query("begin read only");
    await client.query(`set local statement_timeout = ${Math.round(ms)}; set local lock_timeout = 1000;
      set local plan_cache_mode = force_generic_plan`);
    await client.query(`prepare waybill_explained as ${text}`);
    const given = values.length === 0 ? "" : `(${values.map(literalOf).join(", ")})`;
    const { rows } = await client.query<{ "QUERY PLAN": string }>({
      text: `explain (analyze, verbose, format json) execute waybill_explained${given}`,
      types: asText,
    });
    const [row] = rows;
    if (row === undefined) throw new Error("PostgreSQL explains nothing");
    return readExplained(row["QUERY PLAN"]);
  } finally {
    // A statement that was prepared outlives the transaction.
    await client.query("rollback").catch(() => {});
    await client.query("deallocate waybill_explained").catch(() => {});
    client.release();
  }
}
