import type pg from "pg";

import { type Counts, countingTemplate, type CopyRow, stepOf } from "./numbers.ts";
import { columnsOf, latestTables, readRows, repeatedTables } from "./rows-sql.ts";
import { Compiler, type Seed, type Slot, type Template } from "./template.ts";

/** The reported rows of a table, as COPY writes them. */
interface SeedTable {
  name: string;
  columns: string[];
  rows: string[];
}

/** All that was reported, with what is needed to repeat it. */
export interface SeedRows {
  orgId: string;
  counts: Counts;
  seed: Seed;
  repeated: SeedTable[];
  latest: SeedTable[];
}

const idTables = new Set(["trails", "trail_events", "artifacts", "attestations"]);

function rowOf({ columns }: SeedTable, line: string): CopyRow {
  const values = line.split("\t");
  return Object.fromEntries(columns.map((column, index) => [column, values[index] ?? ""]));
}

async function readCounts(client: pg.ClientBase, orgId: string): Promise<Counts> {
  const { rows: org } = await client.query<{ builds: string; entries: string }>(
    "select build_number as builds, audit_seq as entries from org_counters where org_id = $1",
    [orgId],
  );
  const { rows: repos } = await client.query<{ id: string; builds: string }>(
    "select repo_id as id, build_number as builds from repo_counters where org_id = $1",
    [orgId],
  );
  const { rows: environments } = await client.query<{
    id: string;
    name: string;
    snapshots: number;
    rows: string;
    events: string;
  }>(
    `select e.id, e.name, r.snapshot_count as snapshots, r.artifact_count as rows,
       coalesce((select max(event_count) from snapshots s where s.org_id = e.org_id and s.environment_id = e.id), 0) as events
     from environments e join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
     where e.org_id = $1`,
    [orgId],
  );
  return {
    builds: Number(org[0]!.builds),
    auditEntries: Number(org[0]!.entries),
    ofRepos: new Map(repos.map(({ id, builds }) => [id, Number(builds)])),
    ofEnvironments: new Map(
      environments.map((row) => [
        row.id,
        { snapshots: row.snapshots, rows: Number(row.rows), events: Number(row.events) },
      ]),
    ),
    environments: new Map(environments.map(({ id, name }) => [name, id])),
  };
}

function findSeed(tables: readonly SeedTable[], period: { from: number; to: number }): Seed {
  const ids = new Set<string>();
  const digests = new Set<string>();
  const names = new Set<string>();
  const note = (text = ""): void => {
    if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) digests.add(text);
  };
  for (const table of tables)
    for (const line of table.rows) {
      const row = rowOf(table, line);
      if (idTables.has(table.name)) ids.add((row["id"] ?? "").slice(0, 32));
      note(row["git_commit"]);
      if (table.name === "artifacts") note(row["fingerprint"]);
      if (table.name !== "trails") continue;
      note(row["name"]);
      if (/^[a-z][a-z0-9]*-[0-9]+$/.test(row["name"] ?? "")) names.add(row["name"]!);
    }
  return { ...period, ids, digests, names: [...names] };
}

/** Reads what was reported to an organization. */
export async function readSeed(client: pg.ClientBase, org: string): Promise<SeedRows> {
  const { rows } = await client.query<{ id: string; from: string; to: string }>(
    `select o.id, floor(extract(epoch from min(t.created_at)) * 1000000) as from,
       ceil(extract(epoch from (select max(occurred_at) from audit_log where org_id = o.id)) * 1000000) as to
     from organizations o join trails t on t.org_id = o.id where o.name = $1 group by o.id`,
    [org],
  );
  const { id: orgId, from, to } = rows[0]!;
  const read = async (name: string): Promise<SeedTable> => {
    const columns = await columnsOf(client, name);
    return { name, columns, rows: await readRows(client, name, columns, orgId) };
  };
  const repeated: SeedTable[] = [];
  for (const name of repeatedTables) repeated.push(await read(name));
  const latest: SeedTable[] = [];
  for (const name of latestTables) latest.push(await read(name));
  const counts = await readCounts(client, orgId);
  const seed = findSeed(repeated, { from: Number(from), to: Number(to) });
  return { orgId, counts, seed, repeated, latest };
}

/** A table of templates, a row each. */
export interface TemplateTable {
  name: string;
  columns: string[];
  rows: Template[];
}

function joined(templates: readonly Template[]): Template {
  const literals = [""];
  const places: number[] = [];
  for (const [index, template] of templates.entries()) {
    const [first = "", ...rest] = template.literals;
    literals[literals.length - 1] += (index === 0 ? "" : "\t") + first;
    literals.push(...rest);
    places.push(...template.places);
  }
  return { literals, places };
}

/** Compiles reported rows. Those that were open when reporting ended are closed in all epochs but the last one. */
export function compileRows(
  { counts, seed, repeated, latest }: SeedRows,
  epochs: number,
): { slots: readonly Slot[]; repeated: TemplateTable[]; latest: TemplateTable[] } {
  const compiler = new Compiler(seed);
  const last = epochs - 1;
  const counting = (text: string, step: number): Template =>
    countingTemplate(text, (first) => compiler.add(({ number }) => String(first + number * step)));
  const openEnd = (step: number): Template => ({
    literals: ["", ""],
    places: [compiler.add(({ number }) => (number === last ? String.raw`\N` : String((number + 1) * step)))],
  });
  const column = (table: SeedTable, row: CopyRow, name: string): Template => {
    const text = row[name] ?? "";
    const step = stepOf(table.name, name, counts, row);
    if (step === undefined) return compiler.compile(text);
    if (table.name === "snapshot_artifacts" && name === "last_index" && text === String.raw`\N`)
      return openEnd(step);
    return counting(text, step);
  };
  const compiled = (table: SeedTable): TemplateTable => ({
    name: table.name,
    columns: table.columns,
    rows: table.rows.map((line) => {
      const row = rowOf(table, line);
      return joined(table.columns.map((name) => column(table, row, name)));
    }),
  });
  return { slots: compiler.slots, repeated: repeated.map(compiled), latest: latest.map(compiled) };
}
