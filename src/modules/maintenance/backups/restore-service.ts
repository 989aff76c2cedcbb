import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import type { Database } from "../../../db/connect.ts";
import { isDistributed } from "../../../db/citus/distribute.ts";
import { type Dedicated, openDedicated } from "../../../db/dedicated.ts";
import type { Migration } from "../../../db/migrate.ts";
import { isUnfinished, quarantine } from "../../../db/restore-state.ts";
import { invalid } from "../../../domain/errors.ts";
import type { LostSecret } from "../../../domain/lost-secrets.ts";
import { groupBy } from "../../../lib/group.ts";
import { eachInParallel } from "../../../lib/parallel.ts";
import { DamagedArchive } from "../../../lib/tar-reader.ts";
import type { Deps } from "../../kernel/deps.ts";
import { takeEvidence } from "../../process/evidence/mark-service.ts";
import { listTables } from "./catalog-store.ts";
import { checkDatabase } from "./checks-service.ts";
import {
  type BackupHead,
  type BackupTable,
  type EvidenceLine,
  type ManifestLine,
  type SequenceLine,
  type TableLine,
  tableKey,
} from "../../../domain/backup-format.ts";
import { type ReadBackup, readBackup } from "./read-service.ts";
import {
  allowMemory,
  beginRestore,
  clearDatabase,
  endRestore,
  listForeignKeys,
  listSecondaryIndexes,
  type Piece,
  readUse,
  runDefinition,
  setSequence,
  silenceTriggers,
  switchTriggers,
} from "./restore-store.ts";
import { deleteUnendedRuns } from "./runs-store.ts";
import { loadTables, type TableLoader } from "./table-loader.ts";
import { digestTable } from "./tables-service.ts";

/** How the schema comes into a database, which a service cannot do itself. */
export interface SchemaSteps {
  /** What this program knows. */
  migrations: readonly Migration[];
  /** Makes the tables as they were after the migrations of these names, of which `last` is the last. */
  makeUntil(last: string, names: readonly string[]): Promise<void>;
  /** Applies all that came later. */
  finish(): Promise<unknown>;
}

export interface RestoreOptions {
  /** Opens the backup. */
  open(): AsyncIterable<Buffer>;
  /** Opens another backup of the same folder by its id; undefined when it is not there. */
  openOther(id: string): Promise<AsyncIterable<Buffer> | undefined>;
  schema: SchemaSteps;
  /** Whether what is in the database may go. */
  replace: boolean;
  quarantine: boolean;
  /** Looks at 1,000 files of evidence, not at all of them. */
  quick: boolean;
  /** Removes what nobody can open any more, before all is checked; undefined where the secret key is right. */
  forget?: ((db: Database) => Promise<LostSecret[]>) | undefined;
  /** Told what is being done. */
  report(step: string): void;
}

/** What a restore came to. */
export interface Restored extends ReadBackup {
  /** What somebody should look at, in sentences. */
  warnings: string[];
  /** Of these, what the backup lacks, whatever becomes of the copy. */
  findings: string[];
  /** Secrets that were removed; undefined where the secret key is right. */
  forgotten: LostSecret[] | undefined;
  /** Whether another installation may work with the same store of evidence. */
  evidence_shared: boolean;
}

type RestoreDeps = Pick<Deps, "db" | "evidence">;

const mostLooks = 15;
const msBetweenLooks = 200;

/** Connections that make indexes and compare tables. */
const sideBySide = 2;

/**
 * Finds the last migration of a backup. Earlier ones may be missing in it: they were written before, and released after it was made.
 * @throws AppError validation unless this program can read what the backup has.
 */
export function requireKnownSchema(head: BackupHead, known: readonly Migration[]): string {
  const checksums = new Map(known.map(({ name, checksum }) => [name, checksum]));
  const last = head.migrations.at(-1)?.name ?? "";
  for (const { name, checksum } of head.migrations)
    if (checksums.get(name) !== checksum)
      throw invalid(
        `The backup was made by another version of Waybill (${head.program}), whose migration ${name} is not known here: restore it with that version or a later one`,
      );
  return last;
}

/** Makes sure that nobody works with the database, and that nothing in it is lost that somebody wants. */
async function takeDatabase(deps: RestoreDeps, control: Dedicated, replace: boolean): Promise<void> {
  // Before a connection of our own pool counts among them.
  let { others, tables } = await readUse(control);
  // Connections of those that have just ended are closed a moment later.
  for (let look = 1; others > 0 && look < mostLooks; look += 1) {
    await sleep(msBetweenLooks);
    ({ others, tables } = await readUse(control));
  }
  if (others > 0) throw invalid("Servers, or commands, are connected to the database: stop them first");
  if (await isDistributed(deps.db.pool))
    throw invalid("A backup cannot be restored into a database on Citus");
  const unfinished = await isUnfinished(control);
  if (tables > 0 && !unfinished && !replace)
    throw invalid("The database is not empty: what is in it goes only with --force-nonempty");
  await beginRestore(control);
  if (tables > 0) await clearDatabase(control);
}

/** What a restore has under way. */
interface Work {
  deps: RestoreDeps;
  options: RestoreOptions;
  control: Dedicated;
  pieces: Piece[];
  tables: BackupTable[];
  loader: TableLoader | undefined;
  switchedOff: [string, string][];
  lines: ManifestLine[];
}

async function makeRoom(work: Work, head: BackupHead): Promise<void> {
  const { control, options, deps } = work;
  const last = requireKnownSchema(head, options.schema.migrations);
  options.report("making the tables");
  await options.schema.makeUntil(
    last,
    head.migrations.map(({ name }) => name),
  );
  work.tables = head.tables;
  const there = new Map((await listTables(control)).map((table) => [tableKey(table), table]));
  for (const table of head.tables) {
    const known = there.get(tableKey(table))?.columns ?? [];
    const missing = table.columns.find((column) => !known.includes(column));
    if (missing !== undefined)
      throw invalid(
        `Table ${tableKey(table)} has no column ${missing} here: restore with the version that made the backup`,
      );
  }
  work.pieces = [...(await listForeignKeys(control)), ...(await listSecondaryIndexes(control))];
  for (const { removal } of work.pieces) await runDefinition(control, removal);
  if (!(await silenceTriggers(control)))
    for (const { schema, name } of head.tables) {
      await switchTriggers(control, [schema, name], false);
      work.switchedOff.push([schema, name]);
    }
  work.loader = loadTables(deps.db, head.tables);
  options.report("copying rows");
}

/** Puts a file into the store. What is not what its name says is told by who reads the backup. */
export async function putEvidence(
  { evidence }: Pick<Deps, "evidence">,
  sha256: string,
  content: Readable,
): Promise<void> {
  const staged = await evidence.stage(content, { maxBytes: Number.MAX_SAFE_INTEGER });
  try {
    if (staged.sha256 === sha256) await staged.keep();
  } finally {
    await staged.discard();
  }
}

/** Takes files of evidence from the other backups that have them. @returns sentences about those that are not there. */
export async function fetchEvidence(
  {
    deps,
    options,
    lines,
  }: { deps: Pick<Deps, "evidence">; options: Pick<RestoreOptions, "openOther">; lines: ManifestLine[] },
  id: string,
): Promise<string[]> {
  const wanted = groupBy(
    lines.filter(
      (line): line is EvidenceLine => line.kind === "evidence" && line.in !== null && line.in !== id,
    ),
    (line) => line.in ?? "",
  );
  const warnings: string[] = [];
  for (const [other, files] of wanted) {
    const source = await options.openOther(other);
    if (source === undefined) {
      warnings.push(`${files.length} files of evidence are in backup ${other}, which is not beside this one`);
      continue;
    }
    const left = new Set(files.map(({ sha256 }) => sha256));
    await readBackup(source, {
      evidence: async (sha256, content) => {
        if (left.delete(sha256)) await putEvidence(deps, sha256, content);
        else for await (const _ of content);
      },
    });
  }
  return warnings;
}

async function makeAgain({ deps, control, pieces, switchedOff }: Work): Promise<void> {
  const isKey = ({ definition }: Piece): boolean => definition.startsWith("alter table");
  await onConnections(
    deps,
    pieces.filter((piece) => !isKey(piece)),
    async (connection, { definition }) => {
      await allowMemory(connection);
      await runDefinition(connection, definition);
    },
  );
  for (const { definition } of pieces.filter(isKey)) await runDefinition(control, definition);
  for (const table of switchedOff) await switchTriggers(control, table, true);
}

/** Does work on several connections. */
async function onConnections<T>(
  { db }: RestoreDeps,
  items: readonly T[],
  work: (connection: Dedicated, item: T) => Promise<void>,
): Promise<void> {
  const idle: Dedicated[] = [];
  const all: Dedicated[] = [];
  try {
    await eachInParallel(items, sideBySide, async (item) => {
      const connection = idle.pop() ?? (await openDedicated(db));
      if (!all.includes(connection)) all.push(connection);
      await work(connection, item);
      idle.push(connection);
    });
  } finally {
    for (const connection of all) connection.cut();
  }
}

/** Reads every table back. @throws DamagedArchive when one does not give the bytes that the backup was made of. */
async function compareTables({ deps, lines, tables, loader }: Work): Promise<void> {
  const expected = new Map(
    lines.filter((line): line is TableLine => line.kind === "table").map((line) => [line.table, line]),
  );
  await onConnections(deps, tables, async (connection, table) => {
    const key = tableKey(table);
    const line = expected.get(key);
    const found = await digestTable(connection, { ...table, partitioned: false });
    if (found.rows !== line?.rows || loader?.rows.get(key) !== line.rows || found.sha256 !== line.sha256)
      throw new DamagedArchive(`Table ${key} is not what was backed up`);
  });
}

/** Writes a moment, in Unix seconds, in ISO 8601. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

async function finishRestore(work: Work, read: ReadBackup): Promise<Restored> {
  const { deps, options, control, lines } = work;
  const lacking = await fetchEvidence(work, read.head.id);
  options.report("making indexes");
  await makeAgain(work);
  for (const line of lines)
    if (line.kind === "sequence") await setSequence(control, line satisfies SequenceLine);
  await runDefinition(control, "analyze");
  options.report("comparing tables");
  await compareTables(work);
  options.report("applying later migrations");
  await options.schema.finish();
  await deleteUnendedRuns(control);
  const forgotten = await options.forget?.(deps.db);
  options.report("checking");
  const found = await checkDatabase(deps, control, options.quick);
  if (found.failures.length > 0) throw new DamagedArchive(found.failures.join("\n"));
  if (options.quarantine) await quarantine(control, read.head.id);
  const evidence_shared = await takeEvidence(deps, {
    asOf: isoOf(read.head.database_time),
    bringsFiles: read.head.evidence !== "none",
  });
  const divided = work.tables.flatMap(({ name, partitioned }) =>
    partitioned
      ? [`Table ${name} was divided by months: \`waybill admin partition ${name}\` does that again`]
      : [],
  );
  await endRestore(control);
  const findings = [...lacking, ...found.warnings];
  return { ...read, warnings: [...divided, ...findings], findings, forgotten, evidence_shared };
}

/**
 * Restores a backup into a database that nobody works with: makes the schema of its time, fills it, compares every table with the
 * backup, applies later migrations, and checks what has to hold. Until all of that is done servers refuse the database.
 * @throws AppError validation when the database is in use or not empty, or the backup of a newer version; DamagedArchive when the backup,
 * or what came of it, is not what was written.
 */
export async function restoreBackup(deps: RestoreDeps, options: RestoreOptions): Promise<Restored> {
  const control = await openDedicated(deps.db);
  const work: Work = {
    deps,
    options,
    control,
    pieces: [],
    tables: [],
    loader: undefined,
    switchedOff: [],
    lines: [],
  };
  try {
    await takeDatabase(deps, control, options.replace);
    const read = await readBackup(options.open(), {
      head: (head) => makeRoom(work, head),
      part: async (table, bytes, isLast) => work.loader?.part(table, bytes, isLast),
      evidence: (sha256, content) => putEvidence(deps, sha256, content),
      line: async (line) => void work.lines.push(line),
    });
    return await finishRestore(work, read);
  } finally {
    work.loader?.close();
    control.cut();
  }
}
