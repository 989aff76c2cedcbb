import { capitalized } from "../lib/text.ts";
import { daySeconds } from "../lib/units.ts";
import { bytesInWords, type Finding, type HealthStatus } from "./health.ts";

/** How a checked thing stands, from best to worst: as it should; somebody should look; it does not work, or will not. */
const doctorStatuses = ["ok", "warning", "failing"] as const;
export type DoctorStatus = (typeof doctorStatuses)[number];

/** What a check found, and what to do about it. No secrets, no values of rows. */
export interface Diagnosis {
  status: DoctorStatus;
  detail: string;
  /** What to do; null when all is well. */
  remedy: string | null;
}

/** Says that all is well. */
export const fine = (detail: string): Diagnosis => ({ status: "ok", detail, remedy: null });
/** Says that somebody should look, and what to do. */
export const warning = (detail: string, remedy: string): Diagnosis => ({ status: "warning", detail, remedy });
/** Says that something does not work, or will not, and what to do. */
export const failing = (detail: string, remedy: string): Diagnosis => ({ status: "failing", detail, remedy });

/** Finds the worst of several statuses; `ok` of none. */
export function worstDiagnosis(found: readonly Pick<Diagnosis, "status">[]): DoctorStatus {
  const worst = Math.max(0, ...found.map(({ status }) => doctorStatuses.indexOf(status)));
  return doctorStatuses[worst] ?? "failing";
}

const ofHealth: Readonly<Record<HealthStatus, DoctorStatus>> = {
  ok: "ok",
  degraded: "warning",
  failing: "failing",
};

/** Takes over what a check of `/health` judged. @param remedy what to do when that is not well. */
export function withRemedy({ status, detail }: Finding, remedy: string): Diagnosis {
  return { status: ofHealth[status], detail, remedy: status === "ok" ? null : remedy };
}

const oldestNode = [20, 19] as const;
/** When lines of Node.js stop getting security fixes, by their release schedule, in Unix seconds. */
const nodeEnds: ReadonlyMap<number, number> = new Map(
  [
    [20, "2026-04-30"],
    [22, "2027-04-30"],
    [24, "2028-04-30"],
  ].map(([line, day]) => [Number(line), Date.parse(String(day)) / 1000]),
);

/** Judges a version of Node.js, such as `22.11.0`. @param now Unix seconds. */
export function judgeNode(version: string, now: number): Diagnosis {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const remedy = "Run Waybill with a Node.js line that has long-term support: 22 or 24";
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]))
    return failing(`Node.js ${version}: 20.19 is the oldest that works`, remedy);
  const ends = nodeEnds.get(major);
  if (ends !== undefined && ends < now)
    return warning(`Node.js ${version}: its line gets no security fixes any more`, remedy);
  if (major % 2 === 1) return warning(`Node.js ${version}: its line has no long-term support`, remedy);
  return fine(`Node.js ${version}`);
}

/** Owner and rights of a file or folder. */
export interface Rights {
  path: string;
  /** User id of the owner. */
  owner: number;
  /** Permission bits. */
  mode: number;
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

/** Judges who may do what with the data directory. @param user id of who asks, undefined where the system has none. */
export function judgeDataDirectory({ path, owner, mode }: Rights, user: number | undefined): Diagnosis {
  if (user !== undefined && owner !== user)
    return warning(
      `${path} belongs to user ${owner}, and this command runs as user ${user}`,
      "Run this command, and the server, as the user that the data directory belongs to",
    );
  if ((mode & 0o022) !== 0)
    return failing(`${path} can be written by others (${octal(mode)})`, `chmod go-w ${path}`);
  // Others may have to pass through: PostgreSQL runs as a user of its own where the server is root.
  if ((mode & 0o004) !== 0)
    return warning(`${path} can be read by everybody (${octal(mode)})`, `chmod o-r ${path}`);
  return fine(`${path} has rights ${octal(mode)}`);
}

/** Judges files that hold secrets, which only their owner may read. */
export function judgeSecretFiles(files: readonly Rights[]): Diagnosis {
  const open = files.filter(({ mode }) => (mode & 0o077) !== 0);
  if (open.length === 0)
    return fine(files.length === 0 ? "there are none" : "readable for their owner alone");
  const paths = open.map(({ path }) => path).join(" ");
  return failing(
    `others can read ${open.map(({ path, mode }) => `${path} (${octal(mode)})`).join(", ")}`,
    `chmod 600 ${paths}, and replace what was in there if others had access to this machine`,
  );
}

const spaces = /\\([0-7]{3})/g;

/** Finds the type of the file system a path is on. @param mounts the text of /proc/mounts; undefined for a path on none of them. */
export function fileSystemOf(path: string, mounts: string): string | undefined {
  let found: { point: string; type: string } | undefined;
  for (const line of mounts.split("\n")) {
    const [, written = "", type = ""] = line.split(" ");
    const point = written.replaceAll(spaces, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
    if (point === "" || !(path === point || path.startsWith(point.endsWith("/") ? point : `${point}/`)))
      continue;
    // What is mounted later hides what was mounted at the same place before.
    if (found === undefined || point.length >= found.point.length) found = { point, type };
  }
  return found?.type;
}

const overNetwork =
  /^(?:nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|fuse\.(?:sshfs|glusterfs|s3fs|rclone|davfs))$/;
const passing = /^(?:tmpfs|ramfs|overlay)$/;

/** Judges the type of the file system that data is on; undefined when it is not known. */
export function judgeFileSystem(path: string, type: string | undefined): Diagnosis {
  if (type === undefined) return fine(`the file system of ${path} is not known here`);
  if (overNetwork.test(type))
    return warning(
      `${path} is on a network file system (${type}), which may lose what PostgreSQL wrote, and its locks`,
      "Move the data directory to a local disk; evidence may be kept in a bucket",
    );
  if (passing.test(type))
    return warning(
      `${path} is on ${type}, which does not outlast the machine or its container`,
      "Put the data directory on a disk or a volume",
    );
  return fine(`${path} is on ${type}`);
}

const fewDescriptors = 4_096;

/** Judges how many files and connections a process may have open; undefined when that is not known. */
export function judgeDescriptors(limit: number | undefined): Diagnosis {
  if (limit === undefined) return fine("not known on this system");
  const detail = `${limit} files and connections may be open at once`;
  return limit < fewDescriptors
    ? warning(
        detail,
        "Raise the limit of open files (LimitNOFILE= in systemd, ulimit -n in a shell) to 65536",
      )
    : fine(detail);
}

/** Settings that matter to who may do what. */
export interface Exposure {
  dev: boolean;
  allowPrivateTargets: boolean;
  isSilent: boolean;
  /** Whether it listens on this machine alone. */
  isLocal: boolean;
  hasTls: boolean;
  trustsProxies: boolean;
  publicUrl: string;
  isPublicLocal: boolean;
}

/** Judges settings that take protection away. */
export function judgeSettings({ dev, allowPrivateTargets, isSilent }: Exposure): Diagnosis {
  const weak = [
    ...(dev ? ["WAYBILL_DEV=1 lets commands empty the database"] : []),
    ...(allowPrivateTargets ? ["WAYBILL_ALLOW_PRIVATE_TARGETS=1 lets webhooks reach private addresses"] : []),
    ...(isSilent ? ["WAYBILL_LOG_LEVEL=silent keeps nothing of what happens"] : []),
  ];
  return weak.length === 0
    ? fine("none takes protection away")
    : warning(weak.join("; "), "Remove these settings, unless this is a test installation");
}

/** Judges whether what callers send travels in the open. */
export function judgePlainHttp({ isLocal, hasTls, trustsProxies }: Exposure): Diagnosis {
  if (hasTls) return fine("the server speaks TLS");
  if (isLocal) return fine("the server listens on this machine alone");
  if (trustsProxies) return fine("a proxy stands in front");
  return warning(
    "the server speaks plain HTTP beyond this machine: keys can be read on the way",
    "Set WAYBILL_TLS_CERT and WAYBILL_TLS_KEY, or put a proxy in front and set WAYBILL_TRUSTED_PROXIES",
  );
}

/** Says whether requests have to come through a proxy, by the settings. */
export function isBehindProxy({ publicUrl, isLocal, isPublicLocal, hasTls }: Exposure): boolean {
  return !isPublicLocal && (isLocal || (publicUrl.startsWith("https:") && !hasTls));
}

/** Judges by the settings whether the addresses of callers are seen behind a proxy. */
export function judgeProxy(exposure: Exposure): Diagnosis {
  const { publicUrl, trustsProxies } = exposure;
  if (isBehindProxy(exposure) && !trustsProxies)
    return warning(
      `${publicUrl} leads here through a proxy that is not trusted: all callers have its address, in limits and in the audit log`,
      "Set WAYBILL_TRUSTED_PROXIES to the network of the proxy, or to the number of proxies",
    );
  return fine(trustsProxies ? "addresses of callers are taken from trusted proxies" : "no proxy is expected");
}

const renewalDays = 14;

/** Judges a certificate by when it ends. Times in Unix seconds. @param which what it is, at the beginning of a sentence. */
export function judgeCertificate(which: string, endsAt: number, now: number): Diagnosis {
  const days = Math.floor((endsAt - now) / daySeconds);
  const remedy = "Renew the certificate, and see that what renews it runs";
  if (endsAt <= now) return failing(`${which} has expired`, remedy);
  const detail = `${which} ends in ${days} days`;
  return days < renewalDays ? warning(detail, remedy) : fine(detail);
}

/** Lists some names in a sentence. */
export const some = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");

/** Judges indexes that PostgreSQL does not use. */
export function judgeIndexes(invalid: readonly string[]): Diagnosis {
  return invalid.length === 0
    ? fine("all are valid")
    : failing(`not valid: ${some(invalid)}`, `reindex index concurrently ${invalid[0]}; (each of them)`);
}

/** A table as the planner and autovacuum know it. */
export interface TableState {
  name: string;
  bytes: number;
  isAnalyzed: boolean;
  live: number;
  dead: number;
}

const worthAnalyzing = 1024 * 1024;
const manyDead = 50_000;

/** Judges whether the planner knows how tables are filled. */
export function judgeStatistics(tables: readonly TableState[]): Diagnosis {
  const unknown = tables.filter(({ bytes, isAnalyzed }) => !isAnalyzed && bytes >= worthAnalyzing);
  return unknown.length === 0
    ? fine("all larger tables have been analyzed")
    : warning(
        `never analyzed: ${some(unknown.map(({ name }) => name))}`,
        "Run `analyze` in the database, and see that autovacuum is on",
      );
}

/** Judges how much of tables is rows that are there no more. */
export function judgeDeadRows(tables: readonly TableState[]): Diagnosis {
  const bloated = tables.filter(({ live, dead }) => dead > manyDead && dead > live);
  return bloated.length === 0
    ? fine("autovacuum keeps up")
    : warning(
        `more dead rows than live ones: ${some(bloated.map(({ name, bytes }) => `${name} (${bytesInWords(bytes)})`))}`,
        "Look for transactions that stay open and for replication slots nobody reads, then run `vacuum analyze` on these tables",
      );
}

/** Judges numbers that must have no gaps. @param broken organizations in whose latest numbers some are missing. */
export function judgeDensity(what: string, broken: readonly string[]): Diagnosis {
  return broken.length === 0
    ? fine(`the latest ${what} have no gaps`)
    : failing(
        `${what} are missing, or beyond their counter, in ${some(broken)}`,
        "Rows were removed or restored past the server. Keep the database as it is, restore a backup beside it and compare",
      );
}

/** Connections of a database. */
export interface ConnectionUse {
  /** That may be had by ordinary users. */
  max: number;
  used: number;
}

/** Judges whether there are connections left. @param wanted how many one server takes. */
export function judgeConnections({ max, used }: ConnectionUse, wanted: number): Diagnosis {
  const detail = `${used} of ${max} connections in use, a server takes up to ${wanted}`;
  const remedy = "Raise max_connections of PostgreSQL, or lower WAYBILL_DATABASE_POOL";
  if (wanted > max) return failing(detail, remedy);
  return used > max * 0.9 ? warning(detail, remedy) : fine(detail);
}

/** What PostgreSQL says of archiving its write-ahead log. Times in Unix seconds. */
export interface ArchiverState {
  isOn: boolean;
  lastArchived: number | null;
  lastFailed: number | null;
}

/** Judges the archiving of the write-ahead log. */
export function judgeArchiver({ isOn, lastArchived, lastFailed }: ArchiverState): Diagnosis {
  if (!isOn) return fine("none is kept");
  return lastFailed !== null && lastFailed > (lastArchived ?? 0)
    ? failing(
        "the last attempt to archive failed",
        "See the log of PostgreSQL, and whether the archive has room and can be written to",
      )
    : fine("the last attempt succeeded");
}

const oldBackup = 26 * 3_600;
const oldDrill = 8 * daySeconds;

/** Judges backups by the age of the last, in seconds; undefined without any. */
export function judgeBackupAge(age: number | undefined): Diagnosis {
  const remedy =
    "Set WAYBILL_BACKUP_TO, or run `waybill backup` once a day and keep the file on another machine";
  if (age === undefined) return warning("none was made yet", remedy);
  const detail = `the last one is ${Math.floor(age / 3_600)} h old`;
  return age > oldBackup ? warning(detail, remedy) : fine(detail);
}

/** Judges restore drills by the age of the last that succeeded, in seconds; undefined without any. */
export function judgeDrillAge(age: number | undefined): Diagnosis {
  const remedy =
    "Set WAYBILL_BACKUP_TO (and WAYBILL_BACKUP_DRILL_AT), or run `waybill restore drill` once a week: an untried backup is a hope";
  if (age === undefined) return warning("no backup was restored to try it", remedy);
  const detail = `the last one was ${Math.floor(age / daySeconds)} days ago`;
  return age > oldDrill ? warning(detail, remedy) : fine(detail);
}

/** Keys that work, by what is doubtful about them. */
export interface KeyCounts {
  working: number;
  /** That never expire. */
  eternal: number;
  /** That nobody used for 90 days. */
  unused: number;
  /** Of the first start, made more than a week ago. */
  first: number;
  /** That were used in the last 30 days and end within 14. */
  ending: number;
}

/** Judges keys that never expire. */
export function judgeEternalKeys({ working, eternal }: KeyCounts): Diagnosis {
  const detail = `${eternal} of ${working} keys never expire`;
  return eternal === 0
    ? fine(detail)
    : warning(detail, "Give keys an expiry, or set a rule that requires one (docs/keys.md)");
}

/** Judges keys in use that are about to end. */
export function judgeEndingKeys({ working, ending }: KeyCounts): Diagnosis {
  const detail = `${ending} of ${working} keys were used lately and end within 14 days`;
  return ending === 0
    ? fine(detail)
    : warning(detail, "Rotate them, or make others, before what uses them is refused (docs/keys.md)");
}

/** Judges keys that nobody uses. */
export function judgeUnusedKeys({ working, unused }: KeyCounts): Diagnosis {
  const detail = `${unused} of ${working} keys were not used for 90 days`;
  return unused === 0
    ? fine(detail)
    : warning(detail, "Revoke them, or set `unused_days` in the rules for keys (docs/keys.md)");
}

/** Judges the administrator's key of the first start. @param file where it is kept; undefined when it is not any more. */
export function judgeFirstKey({ first }: Pick<KeyCounts, "first">, file: string | undefined): Diagnosis {
  const remedies = [
    ...(first > 0 ? ["make yourself another key and revoke that of the first start"] : []),
    ...(file === undefined ? [] : [`remove ${file}`]),
  ];
  if (remedies.length === 0) return fine("was put away");
  const works = first > 0 ? "still works after more than a week" : "is still kept in a file";
  const detail = `the administrator's key of the first start ${works}`;
  const remedy = remedies.join(", and ");
  return warning(detail, capitalized(remedy));
}

/** Judges whether somebody could be reached. @param problem why not; undefined when all went well. */
export function judgeReached(who: string, problem: string | undefined, remedy: string): Diagnosis {
  return problem === undefined
    ? fine(`${who} answers`)
    : failing(`${who} does not answer as it should: ${problem}`, remedy);
}
