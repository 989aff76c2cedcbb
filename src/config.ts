import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { randomBytes } from "node:crypto";

import { z } from "zod";

import { auditConfig, type AuditConfig, auditVariables } from "./config-audit.ts";
import { backupMistakes, type BackupSettings, backupSettings, backupVariables } from "./config-backups.ts";
import { flag, intakeLimits, type IntakeLimits, limitVariables, whole } from "./config-limits.ts";
import { edgeConfig, type EdgeConfig, edgeMistakes, edgeVariables } from "./config-edge.ts";
import { withFiles } from "./config-files.ts";
import { mailVariables, smtpMistakes, type SmtpSettings, smtpSettings } from "./config-mail.ts";
import { oidcConfig, oidcMistakes, type OidcSettings, oidcVariables } from "./config-oidc.ts";
import { backupAccess, evidenceBucket, s3Mistakes, s3Variables } from "./config-buckets.ts";
import { serverMistakes, serversConfig, type ServersConfig, serverVariables, url } from "./config-servers.ts";
import { traceMistakes, tracesConfig, type TracesConfig, traceVariables } from "./config-traces.ts";
import { upgradeConfig, type UpgradeConfig, upgradeVariables } from "./config-upgrade.ts";
import { walMistakes, walSettings, type WalSettings, walVariables } from "./config-wal.ts";
import { watchConfig, type WatchConfig, watchVariables } from "./config-watch.ts";
import type { EvidenceSettings } from "./evidence/create.ts";
import { flushAtOnce } from "./lib/flush.ts";
import { isLoopbackHost } from "./lib/network.ts";
import { createToken } from "./lib/token.ts";

/** Everything that can be set from outside. Read once, here and nowhere else. */
export interface Config
  extends AuditConfig, EdgeConfig, ServersConfig, TracesConfig, UpgradeConfig, WatchConfig {
  port: number;
  host: string;
  databasePoolSize: number;
  dataDir: string;
  /** Base of every URL the server hands out, without a trailing slash. May have a path prefix. */
  publicUrl: string;
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Opens the development commands, which can empty the database. */
  dev: boolean;
  /** Lets outgoing webhooks go to private addresses. */
  allowPrivateTargets: boolean;
  /** Who sends notifications by e-mail; undefined: nobody does. */
  smtp: SmtpSettings | undefined;
  /** Where people sign in beside keys; undefined: with keys only. */
  oidc: OidcSettings | undefined;
  /** Encrypts secrets at rest. Undefined: kept in a file of the data directory. */
  secretKey: string | undefined;
  /** Requests a minute allowed for one key and for one address; undefined: no limit. */
  rateLimitPerKey: number | undefined;
  rateLimitPerAddress: number | undefined;
  /** Keys and sessions a minute that do not work, for one address; undefined: no limit. */
  failedKeysPerAddress: number | undefined;
  /** Bearer token that may read /metrics from elsewhere than this machine. */
  metricsToken: string | undefined;
  /** Where uploaded files go, and how large one may be. */
  evidence: EvidenceSettings;
  /** Where the write-ahead log of the managed PostgreSQL is archived; undefined: nowhere. */
  wal: WalSettings | undefined;
  /** A client that takes nothing of its answer for so long is cut off. */
  sendStallSeconds: number;
  /** Bytes in memory of answers that are kept to be given again; 0: none is. */
  keptAnswerBytes: number;
  /** What callers may take of connections, time and memory. */
  intake: IntakeLimits;
  /** Where backups go, and when they are made. */
  backups: BackupSettings;
  /** Folder of the built web app: the program's own, or another; undefined when none is to be served. */
  web: string | undefined;
}

/** Where the package's own files are, from `src` and from `dist` alike: the nearest folder upwards that holds a package. */
export const packageRoot = findPackage(import.meta.dirname);

/** The script that PostgreSQL archives its write-ahead log with, and the one that brings it back. */
export const walScripts = {
  archive: join(packageRoot, "share", "wal", "archive.sh"),
  restore: join(packageRoot, "share", "wal", "restore.sh"),
};

function findPackage(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : findPackage(dirname(folder));
}

/** Reads which web app to serve: none for `0`, the program's own for `1`, else that of this folder. */
function webFolder(setting = "1"): string | undefined {
  if (setting === "0") return undefined;
  return setting === "1" ? join(packageRoot, "dist", "web") : resolve(setting);
}

/** Mistakes in the configuration, one sentence each. */
export class ConfigError extends Error {
  readonly mistakes: string[];
  constructor(mistakes: string[]) {
    super(mistakes.join("\n"));
    this.name = "ConfigError";
    this.mistakes = mistakes;
  }
}

const shortestSecretKey = 32;

const Environment = z.object({
  PORT: whole(0, 65_535).optional(),
  HOST: z.string().min(1).optional(),
  WAYBILL_DATABASE_POOL: whole(6, 200).optional(),
  WAYBILL_DATA_DIR: z.string().min(1).optional(),
  WAYBILL_PUBLIC_URL: url(["http:", "https:"]).optional(),
  WAYBILL_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).optional(),
  WAYBILL_DEV: flag.optional(),
  WAYBILL_ALLOW_PRIVATE_TARGETS: flag.optional(),
  ...mailVariables,
  WAYBILL_SECRET_KEY: z
    .string()
    .min(shortestSecretKey, `must have at least ${shortestSecretKey} characters`)
    .optional(),
  WAYBILL_RATE_LIMIT_PER_KEY: whole(0, 10_000_000).optional(),
  WAYBILL_RATE_LIMIT_PER_ADDRESS: whole(0, 10_000_000).optional(),
  WAYBILL_FAILED_KEYS_PER_ADDRESS: whole(0, 10_000_000).optional(),
  WAYBILL_EVIDENCE_DIR: z.string().min(1).optional(),
  WAYBILL_MAX_EVIDENCE_BYTES: whole(1024, 999_999_999).optional(),
  WAYBILL_WEB: z.string().min(1).optional(),
  WAYBILL_SEND_STALL_SECONDS: whole(1, 3600).optional(),
  WAYBILL_KEPT_ANSWER_BYTES: whole(0, 9_999_999_999).optional(),
  ...s3Variables,
  ...limitVariables,
  ...serverVariables,
  ...edgeVariables,
  ...auditVariables,
  ...watchVariables,
  ...traceVariables,
  ...oidcVariables,
  ...backupVariables,
  ...walVariables,
  ...upgradeVariables,
  XDG_DATA_HOME: z.string().optional(),
});

type Settings = z.output<typeof Environment>;

/** Where data lives when nothing is said: /var/lib for root, the XDG data home for everybody else. */
function defaultDataDir(xdgDataHome: string | undefined): string {
  if (process.getuid?.() === 0) return "/var/lib/waybill";
  return join(xdgDataHome || join(homedir(), ".local", "share"), "waybill");
}

/** A limit that is off on loopback and at `standard` elsewhere unless set; 0 switches it off. */
function rateLimit(set: number | undefined, local: boolean, standard: number): number | undefined {
  return (set ?? (local ? 0 : standard)) || undefined;
}

const standardHost = "127.0.0.1";
const standardKeptBytes = 32 * 1024 * 1024;
const standardEvidenceBytes = 10 * 1024 * 1024;

function evidenceSettings(set: Settings, dataDir: string): EvidenceSettings {
  return {
    dir: resolve(set.WAYBILL_EVIDENCE_DIR ?? join(dataDir, "evidence")),
    maxBytes: set.WAYBILL_MAX_EVIDENCE_BYTES ?? standardEvidenceBytes,
    s3: evidenceBucket(set),
  };
}

/**
 * Keeps libraries from writing to standard error what is no business of operators: the S3 client tells each process which
 * Node its later versions need. Before any of them is loaded.
 */
export function quietLibraries(environment: NodeJS.ProcessEnv = process.env): void {
  environment["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
}

/**
 * Reads the configuration from environment variables.
 * @throws ConfigError naming every mistake at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  return configOf(readVariables(environment));
}

/** Settings as they are given, by their names. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Says whether there is a setting of this name. */
export function isSetting(name: string): boolean {
  return name in Environment.shape;
}

/** Reads the settings as far as they can be read, and what is wrong, a sentence each: for those who look at mistakes. */
export function lookAtVariables(): { variables: Variables; mistakes: readonly string[] } {
  return withFiles(process.env);
}

/** Says whether a setting may have this value. */
export function mayBe(name: string, value: string): boolean {
  return isSetting(name) && Environment.shape[name as keyof Settings].safeParse(value).success;
}

/**
 * Reads the settings from the environment and the files it names, without looking at what they say.
 * @throws ConfigError for files that cannot be read.
 */
export function readVariables(environment: Variables): Variables {
  const { variables, mistakes } = withFiles(environment);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return variables;
}

/**
 * Makes the configuration of settings.
 * @throws ConfigError naming every mistake at once.
 */
export function configOf(variables: Variables): Config {
  const parsed = Environment.safeParse(variables);
  if (!parsed.success)
    throw new ConfigError(
      parsed.error.issues.map(
        (issue) => `${issue.path.join(".")} ${issue.message.replace(/^Invalid/, "invalid")}`,
      ),
    );
  const set = parsed.data;
  const incomplete = [
    ...serverMistakes(set),
    ...edgeMistakes(set, {
      isLocal: isLoopbackHost(set.HOST ?? standardHost),
      publicUrl: set.WAYBILL_PUBLIC_URL,
    }),
    ...s3Mistakes(set),
    ...smtpMistakes(set),
    ...oidcMistakes(set),
    ...backupMistakes(set),
    ...walMistakes(set),
    ...traceMistakes(set),
  ];
  if (incomplete.length > 0) throw new ConfigError(incomplete);
  const host = set.HOST ?? standardHost;
  const edge = edgeConfig(set);
  // Where a socket listens that was handed over, nobody here knows.
  const local = isLoopbackHost(host) && edge.inheritedSocket === undefined;
  const port = set.PORT ?? 8001;
  const dataDir = resolve(set.WAYBILL_DATA_DIR ?? defaultDataDir(set.XDG_DATA_HOME));
  return {
    port,
    host,
    ...serversConfig(set),
    ...auditConfig(set),
    ...edge,
    ...upgradeConfig(set, dataDir),
    databasePoolSize: set.WAYBILL_DATABASE_POOL ?? 16,
    dataDir,
    publicUrl: (
      set.WAYBILL_PUBLIC_URL ?? `${edge.tls === undefined ? "http" : "https"}://localhost:${port}`
    ).replace(/\/+$/, ""),
    logLevel: set.WAYBILL_LOG_LEVEL ?? "info",
    dev: set.WAYBILL_DEV ?? false,
    allowPrivateTargets: set.WAYBILL_ALLOW_PRIVATE_TARGETS ?? false,
    smtp: smtpSettings(set),
    oidc: oidcConfig(set),
    secretKey: set.WAYBILL_SECRET_KEY,
    ...watchConfig(set),
    ...tracesConfig(set),
    rateLimitPerKey: rateLimit(set.WAYBILL_RATE_LIMIT_PER_KEY, local, 6_000),
    rateLimitPerAddress: rateLimit(set.WAYBILL_RATE_LIMIT_PER_ADDRESS, local, 12_000),
    failedKeysPerAddress: rateLimit(set.WAYBILL_FAILED_KEYS_PER_ADDRESS, local, 60),
    evidence: evidenceSettings(set, dataDir),
    wal: walSettings(set, dataDir, backupAccess(set)),
    sendStallSeconds: set.WAYBILL_SEND_STALL_SECONDS ?? 30,
    backups: backupSettings(set),
    keptAnswerBytes: set.WAYBILL_KEPT_ANSWER_BYTES ?? standardKeptBytes,
    web: webFolder(set.WAYBILL_WEB),
    intake: intakeLimits(set, local),
  };
}

/**
 * Reads the configuration with another database than it names.
 * @param target its URL, or a data directory with a PostgreSQL of its own.
 * @throws ConfigError naming every mistake at once.
 */
export function readConfigInto(target: string, environment: NodeJS.ProcessEnv = process.env): Config {
  const isUrl = /^postgres(?:ql)?:\/\//.test(target);
  return readConfig({
    ...environment,
    DATABASE_URL_FILE: "",
    WAYBILL_DATABASE_DIRECT_URL: "",
    WAYBILL_DATABASE_DIRECT_URL_FILE: "",
    WAYBILL_DATABASE_POOLER: "",
    DATABASE_READ_URL: "",
    DATABASE_READ_URL_FILE: "",
    WAYBILL_WAL_TO: "",
    WAYBILL_WAL_KEEP_DAYS: "",
    WAYBILL_MAX_WAL_ARCHIVE_BYTES: "",
    DATABASE_URL: isUrl ? target : "",
    ...(isUrl ? {} : { WAYBILL_DATA_DIR: target, WAYBILL_EVIDENCE_DIR: "" }),
  });
}

/** Writes a key to a file that is there in full or not at all, also after a power cut. Of processes that start together one does it. */
function makeSecretKey(file: string, key: string): void {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const handle = openSync(temporary, "wx", 0o600);
  try {
    writeSync(handle, key);
    fsyncSync(handle);
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    closeSync(handle);
    rmSync(temporary, { force: true });
  }
  // Also where another process made it, which may not have come so far.
  flushAtOnce(dirname(file));
}

/** Keeps a key in the data directory, if neither that nor the configuration has one. Another is never replaced. */
export function keepSecretKey(
  { secretKey, dataDir }: Pick<Config, "secretKey" | "dataDir">,
  key: string,
): void {
  const file = join(dataDir, "secret-key");
  if (secretKey !== undefined || existsSync(file)) return;
  mkdirSync(dataDir, { recursive: true });
  makeSecretKey(file, key);
}

/**
 * Reads the key that seals secrets: the configured one, or one made at first start and kept in the data directory.
 * @throws ConfigError for a file that holds no key: going on would seal with a key that anybody can guess.
 */
export function loadSecretKey(config: Pick<Config, "secretKey" | "dataDir">): string {
  if (config.secretKey !== undefined) return config.secretKey;
  const file = join(config.dataDir, "secret-key");
  if (!existsSync(file))
    try {
      mkdirSync(config.dataDir, { recursive: true });
      makeSecretKey(file, createToken());
    } catch (error) {
      throw new ConfigError([`the secret key cannot be kept in ${file}: ${(error as Error).message}`]);
    }
  const key = readFileSync(file, "utf8").trim();
  if (key.length < shortestSecretKey)
    throw new ConfigError([`${file} holds no secret key: it has fewer than ${shortestSecretKey} characters`]);
  return key;
}
