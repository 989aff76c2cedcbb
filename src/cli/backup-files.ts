import type { Command } from "commander";

import { readConfig } from "../config.ts";
import { type ClearFacts, clearFactsOf, type ManifestEnd } from "../domain/backup-format.ts";
import { type KeepRule, parseKeep } from "../domain/backups.ts";
import { openArchive } from "../modules/maintenance/backups/encryption-service.ts";
import {
  type FoundBackup,
  listBackups,
  lookAtBackup,
  pruneBackups,
} from "../modules/maintenance/backups/folder-service.ts";
import type { Place } from "../modules/maintenance/backups/place-service.ts";
import { readBackup } from "../modules/maintenance/backups/read-service.ts";
import { neededByWal } from "../modules/maintenance/wal/need-service.ts";
import { identitiesOf, type IdentityFlag, identityOption } from "./backup-encryption.ts";
import { fileNamed, placeNamed, standardPlace } from "./backup-places.ts";
import { print, UsageError, WarningsError } from "./output.ts";

/** Reads what is kept of older backups. @throws UsageError for what does not say it. */
export function keepRule(text: string): KeepRule {
  const rule = parseKeep(text);
  if (rule !== undefined) return rule;
  throw new UsageError(
    `'${text}' does not say what to keep: give numbers of days, weeks, months such as 7d,4w,12m`,
  );
}

/** Prints for people, or for machines; not where a backup goes to standard output. */
export function tell(flags: { json?: boolean; to?: string }, facts: object, text: string): void {
  const line = flags.json === true ? JSON.stringify(facts) : text;
  if (flags.to === "-") print.error(line);
  else print.line(line);
}

/** Tells machines what is in a backup. */
export function contentsOf({ rows, table_bytes, evidence_files, cluster }: ManifestEnd): object {
  return { rows, table_bytes, evidence_files, ...(cluster && { cluster_bytes: cluster.bytes }) };
}

/** Tells people what is in a backup. */
export function contentsText({ rows, evidence_files, cluster }: ManifestEnd): string {
  const database = cluster === undefined ? `${rows} rows` : `${cluster.bytes} bytes of PostgreSQL's files`;
  return `${database}, ${evidence_files} files of evidence`;
}

async function check(file: string, flags: IdentityFlag & { json?: boolean }): Promise<void> {
  const { head, end } = await readBackup(openArchive(fileNamed(file), identitiesOf(flags)));
  tell(
    flags,
    { file, id: head.id, ...contentsOf(end) },
    `${file} is complete and as it was written: ${contentsText(end)}`,
  );
}

const when = (seconds: number): string => new Date(seconds * 1000).toISOString();

function describe({ path, bytes, head, end }: FoundBackup): object {
  const { tables, migrations, ...rest } = head;
  const { kind } = clearFactsOf(head);
  const last_migration = migrations.at(-1)?.name;
  return {
    file: path,
    bytes,
    made_at: when(head.database_time),
    ...rest,
    last_migration,
    tables: tables.length,
    ...end,
    kind,
  };
}

const factsText = ({ kind, evidence }: ClearFacts): string => `${kind}  evidence ${evidence}`;

const placeOr = (name: string | undefined): Place =>
  name === undefined ? standardPlace() : placeNamed(name);

async function list(folder: string | undefined, flags: { json?: boolean }): Promise<void> {
  const { backups, encrypted, damaged } = await listBackups(placeOr(folder));
  for (const each of backups)
    tell(
      flags,
      describe(each),
      `${when(each.head.database_time)}  ${each.bytes} bytes  ${factsText(clearFactsOf(each.head))}  ${each.path}`,
    );
  for (const { path, bytes, made_at, id, facts } of encrypted)
    tell(
      flags,
      { file: path, bytes, made_at: when(made_at), id, encrypted: true, ...facts },
      `${when(made_at)}  ${bytes} bytes  encrypted${facts === undefined ? "" : `  ${factsText(facts)}`}  ${path}`,
    );
  if (damaged.length > 0) throw new WarningsError(`Damaged, or incomplete: ${damaged.join(", ")}`);
}

async function prune(folder: string | undefined, flags: { keep: string }): Promise<void> {
  const place = placeOr(folder);
  const pruned = await pruneBackups(place, keepRule(flags.keep), neededByWal(place, readConfig()));
  tellPruned(pruned);
}

/** Tells people what was removed, and what was kept against a rule. */
export function tellPruned({ removed, kept }: Awaited<ReturnType<typeof pruneBackups>>): void {
  for (const file of removed) print.line(`Removed ${file}`);
  for (const { path, reason } of kept) print.line(`Kept ${path}: ${reason}`);
}

/** Tells of a file that cannot be read in a sentence. */
export async function readable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new UsageError(`There is no ${path ?? "such file"}`, { cause: error });
    throw error;
  });
}

/** Adds the commands that look after files that are there. */
export function addFileCommands(command: Command): void {
  command
    .command("check <file>")
    .description("read a backup and compare every byte with what was written")
    .addOption(identityOption())
    .option("--json", "tell what was found as JSON")
    .action((file: string, flags) => readable(check(file, flags)));
  command
    .command("show <file>")
    .description("tell what a backup is of")
    .addOption(identityOption())
    .action((file: string, flags: IdentityFlag) =>
      readable(
        lookAtBackup(fileNamed(file), identitiesOf(flags)).then((found) =>
          print.line(JSON.stringify(describe(found), undefined, 2)),
        ),
      ),
    );
  command
    .command("list [folder]")
    .description("list the backups of a folder, or of s3://bucket/prefix")
    .option("--json", "a JSON object for each")
    .action((folder: string | undefined, flags) => readable(list(folder, flags)));
  command
    .command("prune [folder]")
    .description("remove backups of a folder, or of s3://bucket/prefix, but none that the WAL archive needs")
    .requiredOption(
      "--keep <rule>",
      "the last of so many days, weeks and months that have one, such as 7d,4w,12m",
    )
    .action((folder: string | undefined, flags) => readable(prune(folder, flags)));
}
