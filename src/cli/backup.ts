import { randomUUID } from "node:crypto";

import { Command, CommanderError, Option } from "commander";

import { programVersion } from "../open-database.ts";
import { backupName, encryptedSuffix, type KeepRule } from "../domain/backups.ts";
import type { Sink } from "../modules/maintenance/backups/archive-writer.ts";
import {
  type EncryptedSink,
  openArchive,
  openEncryptedSink,
  requireDigest,
} from "../modules/maintenance/backups/encryption-service.ts";
import { ReaderGoneError, streamSink } from "../modules/maintenance/backups/file-sink.ts";
import { findEarlierEvidence, pruneBackups } from "../modules/maintenance/backups/folder-service.ts";
import { type ClearFacts, type EvidenceChoice, evidenceChoices } from "../domain/backup-format.ts";
import { readBackup } from "../modules/maintenance/backups/read-service.ts";
import { writePhysicalBackup } from "../modules/maintenance/backups/physical-service.ts";
import type { FileOfPlace } from "../modules/maintenance/backups/place-service.ts";
import { readSizes, requireRoomForBackup } from "../modules/maintenance/backups/room-service.ts";
import { recordRun } from "../modules/maintenance/backups/runs-service.ts";
import {
  type BackupOptions,
  type MadeBackup,
  writeBackup,
} from "../modules/maintenance/backups/write-service.ts";
import { neededByWal } from "../modules/maintenance/wal/need-service.ts";
import { findWalArchive } from "../db/managed/index.ts";
import { isDiskFull } from "../lib/shortage.ts";
import {
  type EncryptionFlags,
  encryptionOf,
  identitiesOf,
  identityOption,
  recipientOption,
} from "./backup-encryption.ts";
import {
  addFileCommands,
  contentsOf,
  contentsText,
  keepRule,
  readable,
  tell,
  tellPruned,
} from "./backup-files.ts";
import { type Target, targetOf } from "./backup-places.ts";
import { showBytes } from "./byte-progress.ts";
import { type CommandDeps, runActor, withDatabase } from "./command-deps.ts";
import { interruption } from "./interruption.ts";
import { CliError, print, UsageError, WarningsError } from "./output.ts";

interface BackupFlags extends EncryptionFlags {
  to?: string;
  format?: string;
  evidence?: string;
  keep?: string;
  verify?: boolean;
  json?: boolean;
  scheduled?: boolean;
}

/** Evidence in a bucket has a keeper of its own. */
function evidenceChoice(given: string | undefined, inBucket: boolean): EvidenceChoice {
  const choice = given ?? (inBucket ? "none" : "full");
  const known = evidenceChoices.find((each) => each === choice);
  if (known !== undefined) return known;
  throw new UsageError(`'${choice}' is no way to take evidence: only ${evidenceChoices.join(", ")}`);
}

/** The file that a backup becomes, if it becomes one, and whom it is encrypted for. */
interface Destination {
  id: string;
  file: FileOfPlace | undefined;
  recipients: readonly string[];
}

/** Where a backup is written to. */
interface OpenDestination {
  sink: Sink;
  /** The same, if what is written is encrypted. */
  encrypted: EncryptedSink | undefined;
}

function fileOf(target: Target, id: string, isPlain: boolean): FileOfPlace | undefined {
  if (target.kind === "stream") return undefined;
  if (target.kind === "file") return target.file;
  const name = backupName(Date.now() / 1000, id);
  return { place: target.place, name: isPlain ? name : name + encryptedSuffix };
}

/** About how large a backup may become: more than it will be, as rows are packed. */
async function mostBytes({ db }: CommandDeps): Promise<number> {
  const { database, evidence } = await readSizes(db);
  return database + evidence;
}

async function openDestination(
  deps: CommandDeps,
  { file, recipients }: Destination,
  facts: ClearFacts,
): Promise<OpenDestination> {
  const open = async (): Promise<Sink> =>
    file === undefined
      ? streamSink(process.stdout)
      : file.place.create(file.name, file.place.folder === undefined ? await mostBytes(deps) : 0);
  const encrypted = recipients.length === 0 ? undefined : await openEncryptedSink(open, recipients, facts);
  return { sink: encrypted ?? (await open()), encrypted };
}

const formats = ["portable", "physical"] as const;
type Format = (typeof formats)[number];

/** Rows fit everywhere; PostgreSQL's files are what a moment can be restored from. */
function formatChoice(given: string | undefined): Format {
  const known = formats.find((each) => each === (given ?? "portable"));
  if (known !== undefined) return known;
  throw new UsageError(`'${given}' is no format of backups: only ${formats.join(", ")}`);
}

/** Writes a backup of either format. */
async function write(
  deps: CommandDeps,
  sink: Sink,
  { format, ...options }: BackupOptions & { format: Format },
): Promise<MadeBackup> {
  if (format === "portable") return writeBackup(deps, sink, options);
  const life = (await findWalArchive(deps.config.dataDir))?.life;
  return writePhysicalBackup(deps, sink, { ...options, life });
}

/** Makes a backup. Nothing is left of one that fails. */
async function makeBackup(
  deps: CommandDeps,
  { id, file }: Destination,
  {
    sink,
    evidence,
    format,
    secretKey,
    unhurried,
  }: {
    sink: Sink;
    evidence: EvidenceChoice;
    format: Format;
    secretKey?: string;
    unhurried: boolean;
  },
): Promise<MadeBackup> {
  const progress = showBytes("backup");
  const interrupted = interruption("Interrupted: there is no backup");
  try {
    const earlier =
      evidence === "new" && file !== undefined ? await findEarlierEvidence(file.place) : undefined;
    const options = {
      id,
      program: programVersion(),
      evidence,
      format,
      unhurried,
      ...(earlier && { earlier }),
      ...(secretKey !== undefined && { secretKey }),
      report: progress.report,
    };
    const made = await Promise.race([write(deps, sink, options), interrupted.promise]);
    const finishing = sink.finish();
    // A file is whole in a moment; whoever is at the other end of anything else may not answer.
    await (file?.place.folder === undefined ? Promise.race([finishing, interrupted.promise]) : finishing);
    return made;
  } catch (error) {
    await sink.abandon();
    if (isDiskFull(error)) throw new CliError("The disk is full: there is no backup", { cause: error });
    if (error instanceof ReaderGoneError)
      throw new CliError("Whoever was to read the backup has gone: there is none", { cause: error });
    throw error;
  } finally {
    interrupted.forget();
    progress.end();
  }
}

/** What a command has made of a backup. */
interface Outcome {
  made: MadeBackup;
  pruned: Awaited<ReturnType<typeof pruneBackups>>;
  warning: string | undefined;
}

/** What a command was told. */
interface Wanted {
  flags: BackupFlags;
  rule: KeepRule | undefined;
  format: Format;
  secretKey?: string;
}

/** Reads a backup again: its content, or, of an encrypted one without an identity, that the file is what was written. */
async function verify(
  file: FileOfPlace,
  encrypted: EncryptedSink | undefined,
  flags: BackupFlags,
): Promise<void> {
  const identities = identitiesOf(flags);
  if (encrypted !== undefined && (await identities()).length === 0)
    return requireDigest(file, encrypted.sha256());
  await readBackup(openArchive(file, identities));
}

function pathOf(file: FileOfPlace | undefined): string | undefined {
  return file?.place.pathOf(file.name);
}

/** Makes a backup, reads it again and removes older ones as far as that is wanted, and keeps a record of it. */
function recordBackup(
  deps: CommandDeps,
  destination: Destination,
  { flags, rule, format, secretKey }: Wanted,
): Promise<Outcome> {
  const { id, file } = destination;
  const scheduled = flags.scheduled === true;
  return recordRun(
    deps,
    { id, kind: "backup", scheduled, alone: scheduled, actor: runActor("backup", scheduled) },
    async (note) => {
      note({ file: pathOf(file) ?? "-" });
      const evidence = evidenceChoice(flags.evidence, deps.config.evidence.s3 !== undefined);
      const folder = file?.place.folder;
      if (scheduled && folder !== undefined) await requireRoomForBackup(deps, folder, evidence);
      const { sink, encrypted } = await openDestination(deps, destination, { kind: format, evidence });
      const written = await makeBackup(deps, destination, {
        sink,
        evidence,
        format,
        unhurried: scheduled,
        ...(secretKey !== undefined && { secretKey }),
      });
      const made = { ...written, bytes: encrypted?.bytes() ?? written.bytes };
      const { rows, evidence_files } = made.end;
      note({ bytes: made.bytes, rows, evidence_files });
      if (flags.verify === true && file !== undefined) await verify(file, encrypted, flags);
      const pruned =
        rule === undefined || file === undefined
          ? { removed: [], kept: [] }
          : await pruneBackups(file.place, rule, neededByWal(file.place, deps.config));
      const lost = made.problems.length;
      const warning =
        lost === 0
          ? undefined
          : `${lost} files of evidence are missing or damaged, see \`waybill admin evidence verify\``;
      note({ problem: warning ?? null });
      return { made, pruned, warning };
    },
  );
}

async function backup(flags: BackupFlags): Promise<void> {
  const target = await targetOf(flags.to);
  const rule = flags.keep === undefined ? undefined : keepRule(flags.keep);
  if (target.kind === "stream" && (rule !== undefined || flags.verify === true))
    throw new UsageError("--keep and --verify need a file or a folder to work on");
  const format = formatChoice(flags.format);
  const { recipients, secretKey } = encryptionOf(flags, flags.evidence);
  const begun = performance.now();
  const wanted = { flags, rule, format, ...(secretKey !== undefined && { secretKey }) };
  const id = randomUUID();
  const destination = { id, file: fileOf(target, id, recipients.length === 0), recipients };
  const { made, pruned, warning } = await withDatabase((deps) => recordBackup(deps, destination, wanted));
  const path = pathOf(destination.file);
  const seconds = (performance.now() - begun) / 1000;
  const facts = {
    id: destination.id,
    file: path ?? null,
    bytes: made.bytes,
    format,
    encrypted: recipients.length > 0,
    ...contentsOf(made.end),
    problems: made.problems.map(({ sha256, problem }) => ({ sha256, problem })),
    ...pruned,
    seconds,
  };
  tell(
    flags,
    facts,
    `Backup ${path ?? "written"}: ${made.bytes} bytes, ${contentsText(made.end)}, ${seconds.toFixed(1)} s`,
  );
  if (recipients.length === 0 && flags.json !== true)
    print.error("It is not encrypted: `--encrypt-to`, with a recipient of age, has only you read it");
  if (flags.json !== true) tellPruned(pruned);
  if (warning !== undefined) throw new WarningsError(warning);
}

/** Makes the option by which the server says that it is the clock that wants something done. */
export function scheduledOption(): Option {
  return new Option("--scheduled").hideHelp();
}

/** Has a command exit with 2 for what it cannot work with. Its parts do the same if they are made after this. */
export function strictly(command: Command): Command {
  return command.exitOverride(({ exitCode, code, message }) => {
    throw new CommanderError(exitCode === 0 ? 0 : 2, code, message);
  });
}

/** Builds `waybill backup …`. */
export function backupCommand(): Command {
  const command = strictly(new Command("backup"))
    .enablePositionalOptions()
    .description("copy the whole database and its evidence into a file, with the server running or not")
    .option(
      "--to <target>",
      "a file, a folder, s3://bucket/prefix, or - for standard output; WAYBILL_BACKUP_TO, or the folder backups of the data directory, unless given",
    )
    .option(
      "--format <which>",
      "portable (rows, for any PostgreSQL) or physical (PostgreSQL's files, for a moment)",
    )
    .option(
      "--evidence <which>",
      "full, new (what no other backup of the folder has) or none; full for files, none for a bucket",
    )
    .option("--keep <rule>", "then remove older backups of the folder, such as 7d,4w,12m")
    .addOption(recipientOption())
    .option("--with-secret-key", "put the installation's secret key into it, which has to be encrypted then")
    .option("--verify", "then read the file and compare every byte")
    .addOption(identityOption())
    .option("--json", "tell what was done as JSON")
    .addOption(scheduledOption())
    .action((flags: BackupFlags) => readable(backup(flags)));
  addFileCommands(command);
  return command;
}
