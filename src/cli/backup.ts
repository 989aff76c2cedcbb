import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { Command, CommanderError } from "commander";

import { programVersion } from "../app.ts";
import { readConfig } from "../config.ts";
import { backupName, type KeepRule, parseKeep } from "../domain/backups.ts";
import type { Sink } from "../modules/maintenance/backups/archive-writer.ts";
import { openFileSink, streamSink } from "../modules/maintenance/backups/file-sink.ts";
import {
  findEarlierEvidence,
  type FoundBackup,
  listBackups,
  lookAtBackup,
  pruneBackups,
} from "../modules/maintenance/backups/folder-service.ts";
import { type EvidenceChoice, evidenceChoices } from "../domain/backup-format.ts";
import { readBackup } from "../modules/maintenance/backups/read-service.ts";
import { type MadeBackup, writeBackup } from "../modules/maintenance/backups/write-service.ts";
import { isDiskFull } from "../lib/shortage.ts";
import { showBytes } from "./byte-progress.ts";
import { type CommandDeps, withDatabase } from "./command-deps.ts";
import { CliError, print, UsageError, WarningsError } from "./output.ts";

interface BackupFlags {
  to?: string;
  evidence?: string;
  keep?: string;
  verify?: boolean;
  json?: boolean;
}

/** Where a backup goes: to standard output, to this file, or to a new file of this folder. */
type Target = { kind: "stream" } | { kind: "file"; path: string } | { kind: "folder"; path: string };

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Where backups go when nothing is said. */
function standardFolder(): string {
  return join(readConfig().dataDir, "backups");
}

async function targetOf(to: string | undefined): Promise<Target> {
  if (to === "-") return { kind: "stream" };
  if (to === undefined || to.endsWith("/")) {
    const path = to === undefined ? standardFolder() : resolve(to);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { kind: "folder", path };
  }
  const path = resolve(to);
  if (await isFolder(path)) return { kind: "folder", path };
  if ((await stat(path).catch(() => undefined)) !== undefined)
    throw new UsageError(`${path} is there already: name another file, or a folder`);
  return { kind: "file", path };
}

function keepRule(text: string): KeepRule {
  const rule = parseKeep(text);
  if (rule !== undefined) return rule;
  throw new UsageError(
    `'${text}' does not say what to keep: give numbers of days, weeks, months such as 7d,4w,12m`,
  );
}

/** Evidence in a bucket has a keeper of its own. */
function evidenceChoice(given: string | undefined, inBucket: boolean): EvidenceChoice {
  const choice = given ?? (inBucket ? "none" : "full");
  const known = evidenceChoices.find((each) => each === choice);
  if (known !== undefined) return known;
  throw new UsageError(`'${choice}' is no way to take evidence: only ${evidenceChoices.join(", ")}`);
}

/** Fails as soon as the process is asked to end. */
function interruption(): { promise: Promise<never>; forget(): void } {
  let stop = (): void => {};
  const promise = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new CliError("Interrupted: there is no backup"));
    process.once("SIGINT", stop).once("SIGTERM", stop);
  });
  promise.catch(() => {});
  return { promise, forget: () => void process.off("SIGINT", stop).off("SIGTERM", stop) };
}

/** Where a backup is written to, and the file that it becomes if it becomes one. */
interface Destination {
  id: string;
  sink: Sink;
  path: string | undefined;
  folder: string | undefined;
}

async function openDestination(target: Target): Promise<Destination> {
  const id = randomUUID();
  if (target.kind === "stream")
    return { id, sink: streamSink(process.stdout), path: undefined, folder: undefined };
  const path = target.kind === "file" ? target.path : join(target.path, backupName(Date.now() / 1000, id));
  return { id, sink: await openFileSink(path), path, folder: dirname(path) };
}

/** Makes a backup. Nothing is left of one that fails. */
async function makeBackup(
  deps: CommandDeps,
  { id, sink, folder }: Destination,
  evidence: EvidenceChoice,
): Promise<MadeBackup> {
  const progress = showBytes("backup");
  const interrupted = interruption();
  try {
    const earlier =
      evidence === "new" && folder !== undefined ? await findEarlierEvidence(folder) : undefined;
    const options = {
      id,
      program: programVersion(),
      evidence,
      ...(earlier && { earlier }),
      report: progress.report,
    };
    const made = await Promise.race([writeBackup(deps, sink, options), interrupted.promise]);
    await sink.finish();
    return made;
  } catch (error) {
    await sink.abandon();
    if (isDiskFull(error)) throw new CliError("The disk is full: there is no backup", { cause: error });
    throw error;
  } finally {
    interrupted.forget();
    progress.end();
  }
}

/** Prints for people, or for machines; not where a backup goes to standard output. */
function tell(flags: { json?: boolean; to?: string }, facts: object, text: string): void {
  const line = flags.json === true ? JSON.stringify(facts) : text;
  if (flags.to === "-") print.error(line);
  else print.line(line);
}

async function backup(flags: BackupFlags): Promise<void> {
  const target = await targetOf(flags.to);
  const rule = flags.keep === undefined ? undefined : keepRule(flags.keep);
  if (target.kind === "stream" && (rule !== undefined || flags.verify === true))
    throw new UsageError("--keep and --verify need a file or a folder to work on");
  const begun = performance.now();
  const destination = await openDestination(target);
  const made = await withDatabase((deps) =>
    makeBackup(deps, destination, evidenceChoice(flags.evidence, deps.config.evidence.s3 !== undefined)),
  ).catch(async (error: unknown) => {
    await destination.sink.abandon();
    throw error;
  });
  const { path, folder } = destination;
  if (flags.verify === true && path !== undefined) await readBackup(createReadStream(path));
  const removed = rule === undefined || folder === undefined ? [] : await pruneBackups(folder, rule);
  const seconds = (performance.now() - begun) / 1000;
  const facts = {
    id: destination.id,
    file: path ?? null,
    bytes: made.bytes,
    rows: made.end.rows,
    table_bytes: made.end.table_bytes,
    evidence_files: made.end.evidence_files,
    problems: made.problems.map(({ sha256, problem }) => ({ sha256, problem })),
    removed,
    seconds,
  };
  tell(
    flags,
    facts,
    `Backup ${path ?? "written"}: ${made.bytes} bytes, ${made.end.rows} rows, ${made.end.evidence_files} files of evidence, ${seconds.toFixed(1)} s`,
  );
  for (const file of removed) if (flags.json !== true) print.line(`Removed ${file}`);
  if (made.problems.length > 0)
    throw new WarningsError(
      `${made.problems.length} files of evidence are missing or damaged, see \`waybill admin evidence verify\``,
    );
}

async function check(file: string, flags: { json?: boolean }): Promise<void> {
  const { head, end } = await readBackup(createReadStream(file));
  tell(
    flags,
    { file, id: head.id, rows: end.rows, table_bytes: end.table_bytes, evidence_files: end.evidence_files },
    `${file} is complete and as it was written: ${end.rows} rows, ${end.evidence_files} files of evidence`,
  );
}

const when = (seconds: number): string => new Date(seconds * 1000).toISOString();

function describe({ path, bytes, head, end }: FoundBackup): object {
  const { tables, migrations, ...rest } = head;
  const last_migration = migrations.at(-1)?.name;
  return {
    file: path,
    bytes,
    made_at: when(head.database_time),
    ...rest,
    last_migration,
    tables: tables.length,
    ...end,
  };
}

async function list(folder: string | undefined, flags: { json?: boolean }): Promise<void> {
  const { backups, damaged } = await listBackups(folder ?? standardFolder());
  for (const each of backups)
    tell(
      flags,
      describe(each),
      `${when(each.head.database_time)}  ${each.bytes} bytes  evidence ${each.head.evidence}  ${each.path}`,
    );
  if (damaged.length > 0) throw new WarningsError(`Damaged, or incomplete: ${damaged.join(", ")}`);
}

async function prune(folder: string | undefined, flags: { keep: string }): Promise<void> {
  const removed = await pruneBackups(folder ?? standardFolder(), keepRule(flags.keep));
  for (const file of removed) print.line(`Removed ${file}`);
}

/** Has a command exit with 2 for what it cannot work with. Its parts do the same if they are made after this. */
export function strictly(command: Command): Command {
  return command.exitOverride(({ exitCode, code, message }) => {
    throw new CommanderError(exitCode === 0 ? 0 : 2, code, message);
  });
}

/** Tells of a file that cannot be read in a sentence. */
export async function readable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new UsageError(`There is no ${path ?? "such file"}`, { cause: error });
    throw error;
  });
}

/** Builds `waybill backup …`. */
export function backupCommand(): Command {
  const command = strictly(new Command("backup"))
    .description("copy the whole database and its evidence into a file, with the server running or not")
    .option(
      "--to <target>",
      "a file, a folder, or - for standard output; the folder backups of the data directory unless given",
    )
    .option(
      "--evidence <which>",
      "full, new (what no other backup of the folder has) or none; full for files, none for a bucket",
    )
    .option("--keep <rule>", "then remove older backups of the folder, such as 7d,4w,12m")
    .option("--verify", "then read the file and compare every byte")
    .option("--json", "tell what was done as JSON")
    .action((flags: BackupFlags) => readable(backup(flags)));
  command
    .command("check <file>")
    .description("read a backup and compare every byte with what was written")
    .option("--json", "tell what was found as JSON")
    .action((file: string, flags) => readable(check(file, flags)));
  command
    .command("show <file>")
    .description("tell what a backup is of")
    .action((file: string) =>
      readable(lookAtBackup(file).then((found) => print.line(JSON.stringify(describe(found), undefined, 2)))),
    );
  command
    .command("list [folder]")
    .description("list the backups of a folder")
    .option("--json", "a JSON object for each")
    .action((folder: string | undefined, flags) => readable(list(folder, flags)));
  command
    .command("prune [folder]")
    .description("remove backups of a folder")
    .requiredOption(
      "--keep <rule>",
      "the last of so many days, weeks and months that have one, such as 7d,4w,12m",
    )
    .action((folder: string | undefined, flags) => readable(prune(folder, flags)));
  return command;
}
