import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";

/** Tables whose rows are repeated in every epoch. */
export const repeatedTables = [
  "trails",
  "trail_events",
  "trail_compliance",
  "trail_outcomes",
  "artifacts",
  "builds",
  "attestations",
  "attestation_heads",
  "audit_log",
  "search_words",
  "snapshots",
  "snapshot_artifacts",
  "snapshot_documents",
] as const;

/** Tables that tell of what is there now: rows of the last epoch. */
export const latestTables = ["flow_activity", "environment_lineage", "running_artifacts"] as const;

/** Of these only words of pull requests and tickets are repeated; others are of what is there once. */
const conditions: Readonly<Record<string, string>> = {
  search_words: " and kind in ('pull_request', 'ticket')",
};

/** Gives the condition by which rows of a table are repeated. */
export function repeatedWhere(table: string, orgId: string): string {
  return `org_id = '${orgId}'${conditions[table] ?? ""}`;
}

/** Reads the columns that are stored as they are given, in their order. */
export async function columnsOf(client: pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = ''
     order by attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Writes the list of columns of a statement. */
export function listed(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}

/** Reads the repeated rows of a table, in the order in which they were written, as COPY writes them. */
export async function readRows(
  client: pg.ClientBase,
  table: string,
  columns: readonly string[],
  orgId: string,
): Promise<string[]> {
  const source = `select ${listed(columns)} from ${table} where ${repeatedWhere(table, orgId)} order by ctid`;
  const stream = client.query(copyTo(`copy (${source}) to stdout`));
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? [] : text.slice(0, -1).split("\n");
}
