import { capitalized } from "../lib/text.ts";
import { mebibyte } from "../lib/units.ts";
import { type Diagnosis, failing, fine, some, warning } from "./doctor.ts";
import { bytesInWords, largeLag } from "./health.ts";

/** Judges the PostgreSQL that Waybill brings along by the major version of what it has to read; undefined for what is not there. */
export function judgeEngine({
  cluster,
  engine,
}: {
  cluster: string | undefined;
  engine: string | undefined;
}): Diagnosis {
  if (engine === undefined)
    return failing(
      "the PostgreSQL that Waybill brings along is not installed",
      "Install Waybill with its optional packages, or set DATABASE_URL",
    );
  if (cluster === undefined) return fine(`PostgreSQL ${engine}; there is no database before the first start`);
  if (cluster !== engine)
    return failing(
      `PostgreSQL ${engine} cannot read the database, which PostgreSQL ${cluster} made`,
      "Run `waybill upgrade --check`, which says whether the next start can move it and what that needs",
    );
  return fine(`PostgreSQL ${engine}, as the database`);
}

/** Judges how much the log tells. */
export function judgeLogLevel(level: string): Diagnosis {
  return level === "debug" || level === "trace"
    ? warning(
        `WAYBILL_LOG_LEVEL=${level} fills disks, and tells more than operations need`,
        "Set WAYBILL_LOG_LEVEL=info when you have found what you look for",
      )
    : fine(`the level is ${level}`);
}

const leastHeap = 256 * mebibyte;
const leastMemory = 1_000 * mebibyte;

/** Judges the memory that the program may have, in bytes. @param heap of Node.js. @param machine what there is, or what its container may have. */
export function judgeMemory(heap: number, machine: number): Diagnosis {
  const detail = `${bytesInWords(machine)} in all, ${bytesInWords(heap)} for Node.js`;
  if (heap < leastHeap)
    return warning(detail, "Take --max-old-space-size out of NODE_OPTIONS, or set it to 1024 or more");
  return machine < leastMemory
    ? warning(
        detail,
        "Give the machine, or its container, 1 GiB or more: programs are ended where there is none left",
      )
    : fine(detail);
}

/** The folder that backups go to. */
interface BackupFolder {
  path: string;
  /** Why nothing can be written there; undefined where it can. */
  problem: string | undefined;
  /** What is on the same disk and would be lost with it. */
  beside: readonly string[];
  /** The setting that names it. */
  setting: string;
}

/** Judges a bucket that backups, or the write-ahead log, go to. @param problem why nothing can be written there; undefined where it can. */
export function judgeBackupBucket(url: string, problem: string | undefined): Diagnosis {
  return problem === undefined
    ? fine(`${url} takes uploads`)
    : failing(
        `nothing can be written to ${url}: ${problem}`,
        "Check WAYBILL_BACKUP_S3_…, and what its key may do (docs/backup.md)",
      );
}

/** Judges a folder that backups, or the write-ahead log, go to. */
export function judgeBackupFolder({ path, problem, beside, setting }: BackupFolder): Diagnosis {
  if (problem !== undefined)
    return failing(
      `nothing can be written to ${path}: ${problem}`,
      `See that ${path} is a folder in which the user that the server runs as may write`,
    );
  return beside.length === 0
    ? fine(`${path} is on a disk of its own`)
    : warning(
        `${path} is on the same disk as ${beside.join(" and ")}: what takes the one takes the other`,
        `Set ${setting} to a folder on another disk, or copy the files to another machine`,
      );
}

/** Judges whether backups are encrypted for somebody who can read them. @param readable whether an identity is known, and reads what is encrypted. */
export function judgeRecipients(problem: string | undefined, readable: boolean | undefined): Diagnosis {
  const copied = "Copy the recipients into WAYBILL_BACKUP_ENCRYPT_TO again, each in full";
  if (problem !== undefined)
    return failing(`nothing can be encrypted for the recipients: ${problem}`, copied);
  if (readable === undefined)
    return fine(
      "usable; whether somebody has their identities is not known here, so nothing is restored for trial",
    );
  return readable
    ? fine("what is encrypted for the recipients can be read with the identity")
    : failing(
        "WAYBILL_BACKUP_IDENTITY reads nothing that is encrypted for the recipients",
        "Set the identity of one of the recipients, or that recipient: drills and restores need it",
      );
}

/** What PostgreSQL leaves out to be faster. */
export interface Durability {
  /** Settings that are off and should be on. */
  off: readonly string[];
  /** Tables that a crash empties. */
  unlogged: readonly string[];
}

/** Judges whether what was acknowledged survives a crash. */
export function judgeDurability({ off, unlogged }: Durability): Diagnosis {
  if (off.length === 0 && unlogged.length === 0) return fine("what was acknowledged survives a crash");
  const details = [
    ...(off.length === 0 ? [] : [`${off.join(", ")} ${off.length === 1 ? "is" : "are"} off`]),
    ...(unlogged.length === 0 ? [] : [`a crash empties ${some(unlogged)}`]),
  ];
  const remedies = [
    ...(off.length === 0 ? [] : [`set ${off.map((name) => `${name} = on`).join(", ")} in PostgreSQL`]),
    ...unlogged.slice(0, 1).map((name) => `alter table ${name} set logged; (each of them)`),
  ];
  const remedy = remedies.join(", and ");
  return failing(details.join("; "), capitalized(remedy));
}

/** Judges whether tables are looked after. @param excepted those that autovacuum passes over. */
export function judgeAutovacuum(isOn: boolean, excepted: readonly string[]): Diagnosis {
  if (!isOn)
    return failing("autovacuum is off: tables grow without end", "Set autovacuum = on in PostgreSQL");
  return excepted.length === 0
    ? fine("is on for all tables")
    : warning(
        `passes over ${some(excepted)}`,
        `alter table ${excepted[0]} reset (autovacuum_enabled); (each of them)`,
      );
}

const manyIds = 500_000_000;
const tooManyIds = 1_500_000_000;

/** Judges for how many transactions the oldest rows were not frozen: PostgreSQL takes no more writes at two billions. */
export function judgeTransactionIds(age: number): Diagnosis {
  const detail = `the oldest rows are ${age} transactions old`;
  const remedy =
    "See what keeps autovacuum from its work (long transactions, replication slots), and run `vacuum freeze`";
  if (age > tooManyIds) return failing(`${detail}, and writes stop at 2,000,000,000`, remedy);
  return age > manyIds ? warning(detail, remedy) : fine(detail);
}

/** A transaction that is open. */
export interface OpenTransaction {
  pid: number;
  seconds: number;
  /** Whether it waits for its client. */
  isIdle: boolean;
}

const longIdle = 600;
const longWork = 3_600;

/** Judges transactions that stay open: rows that were removed meanwhile cannot go, and locks are kept. */
export function judgeOpenTransactions(open: readonly OpenTransaction[]): Diagnosis {
  const long = open.filter(({ seconds, isIdle }) => seconds > (isIdle ? longIdle : longWork));
  const [first] = long.toSorted((one, other) => other.seconds - one.seconds);
  if (first === undefined) return fine("none stays open for long");
  const minutes = Math.floor(first.seconds / 60);
  return warning(
    `${long.length} stay open, one for ${minutes} minutes${first.isIdle ? " while its client does nothing" : ""}`,
    `Find out whose it is (pg_stat_activity), or end it: select pg_terminate_backend(${first.pid});`,
  );
}

/** Judges transactions that were prepared and never ended. @param forgotten how many, older than ten minutes. */
export function judgePrepared(forgotten: number): Diagnosis {
  return forgotten === 0
    ? fine("none is left")
    : warning(
        `${forgotten} were prepared more than ten minutes ago and neither committed nor rolled back`,
        "See `select gid, prepared, owner from pg_prepared_xacts`, then `rollback prepared` each that nobody knows of",
      );
}

/** A replication slot that nobody reads. */
export interface IdleSlot {
  name: string;
  /** Of the log that is kept for it. */
  bytes: number;
}

/** Judges replication slots that nobody reads: for each the log is kept until the disk is full. */
export function judgeSlots(idle: readonly IdleSlot[]): Diagnosis {
  const [first] = idle;
  if (first === undefined) return fine("each has a reader, or there are none");
  const names = some(idle.map(({ name, bytes }) => `${name} (${bytesInWords(bytes)})`));
  return warning(
    `nobody reads ${names}`,
    `Start its reader, or give it up: select pg_drop_replication_slot('${first.name}');`,
  );
}

/** Judges whether the system sorts as it did when indexes were made. */
export function judgeCollation(isAnother: boolean): Diagnosis {
  return isAnother
    ? failing(
        "the system sorts texts by other rules than those that indexes were made by: they may miss rows",
        "Run `reindex database` at a quiet time, then `alter database … refresh collation version`",
      )
    : fine("indexes are in the order that the system sorts by");
}

/** Judges a standby that reads go to. @param behind bytes of the log that it has to replay. */
export function judgeStandby(isFollowing: boolean, behind: number): Diagnosis {
  const remedy =
    "See the log of the standby, and the network between the two; all reads go to the primary meanwhile";
  if (!isFollowing) return failing("DATABASE_READ_URL is no standby: it follows nobody", remedy);
  const detail = behind <= 0 ? "has replayed all" : `is ${bytesInWords(behind)} behind`;
  return behind > largeLag ? warning(detail, remedy) : fine(detail);
}

/** Judges links for emergencies that were made and not used. */
export function judgeBreakGlass(unused: number): Diagnosis {
  return unused === 0
    ? fine("no link is waiting to be used")
    : warning(
        `${unused} link${unused === 1 ? "" : "s"} for emergencies can still be used by whoever has ${unused === 1 ? "it" : "one"}`,
        "Wait ten minutes, after which a link works no more; if nobody of yours made it, read the log of the instance",
      );
}

const lateSeconds = 600;

/** A target of the audit logs, and how old the oldest entry is that it has not got, in seconds. */
interface AuditLag {
  target: string;
  seconds: number;
}

/** Judges whether audit logs reach the places they are sent to. */
export function judgeAuditLag(lags: readonly AuditLag[]): Diagnosis {
  const late = lags.filter(({ seconds }) => seconds > lateSeconds);
  return late.length === 0
    ? fine("all targets have the latest entries")
    : warning(
        `entries wait: ${some(late.map(({ target, seconds }) => `${target} for ${Math.floor(seconds / 60)} minutes`))}`,
        "See the log for why a target does not take them (docs/runbooks.md); nothing is lost meanwhile",
      );
}
