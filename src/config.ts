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
import { isIP } from "node:net";
import { dirname, join, resolve } from "node:path";
import { randomBytes } from "node:crypto";

import { z } from "zod";

import { intakeLimits, type IntakeLimits, limitVariables, whole } from "./config-limits.ts";
import { edgeConfig, type EdgeConfig, edgeVariables } from "./config-edge.ts";
import { withFiles } from "./config-files.ts";
import { oidcConfig, oidcMistakes, type OidcSettings, oidcVariables } from "./config-oidc.ts";
import { serverMistakes, serversConfig, type ServersConfig, serverVariables, url } from "./config-servers.ts";
import type { EvidenceSettings } from "./evidence/create.ts";
import { parseUrl } from "./lib/url.ts";

/** Everything that can be set from outside. Read once, here and nowhere else. */
export interface Config extends ServersConfig, EdgeConfig {
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
  /** Bearer token that may read /metrics from elsewhere than this machine. */
  metricsToken: string | undefined;
  /** Where uploaded files go, and how large one may be. */
  evidence: EvidenceSettings;
  /** A client that takes nothing of its answer for so long is cut off. */
  sendStallSeconds: number;
  /** Bytes in memory of answers that are kept to be given again; 0: none is. */
  keptAnswerBytes: number;
  /** What callers may take of connections, time and memory. */
  intake: IntakeLimits;
  /** Folder of the built web app: the program's own, or another; undefined when none is to be served. */
  web: string | undefined;
}

/** Where the package's own files are, from `src` and from `dist` alike: the nearest folder upwards that holds a package. */
export const packageRoot = findPackage(import.meta.dirname);

function findPackage(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : findPackage(dirname(folder));
}

/** Reads which web app to serve: none for `0`, the program's own for `1`, else that of this folder. */
function webFolder(setting = "1"): string | undefined {
  if (setting === "0") return undefined;
  return setting === "1" ? join(packageRoot, "dist", "web") : resolve(setting);
}

/** The operator's mail server. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the beginning; else it is begun when the server offers it. */
  secure: boolean;
  /** Refuses to go on without TLS. */
  requireTls: boolean;
  user: string | undefined;
  password: string | undefined;
  /** Sender of every message: an address, with or without a name. */
  from: string;
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

const flag = z.enum(["0", "1", "true", "false"]).transform((value) => value === "1" || value === "true");

const s3 = {
  WAYBILL_EVIDENCE_S3_ENDPOINT: url(["http:", "https:"]).optional(),
  WAYBILL_EVIDENCE_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket")
    .optional(),
  WAYBILL_EVIDENCE_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, "must be the name of a region")
    .optional(),
  WAYBILL_EVIDENCE_S3_ACCESS_KEY: z.string().optional(),
  WAYBILL_EVIDENCE_S3_SECRET_KEY: z.string().optional(),
  WAYBILL_EVIDENCE_S3_PREFIX: z
    .string()
    .regex(
      /^[\w.-][\w./-]{0,255}$/,
      "must consist of letters, digits and . _ - /, and not begin with a slash",
    )
    .optional(),
};
/** An address, bare or as `Name <address>`, in one line. */
const mailSender = /^(?:[^<>@\r\n]{1,100}<[^\s<>@]{1,64}@[^\s<>@]{1,189}>|[^\s<>@]{1,64}@[^\s<>@]{1,189})$/;
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
  WAYBILL_SMTP_URL: url(["smtp:", "smtps:"])
    .refine((text) => (parseUrl(text)?.hostname ?? "") !== "", "must name a host")
    .refine((text) => !/%(?![0-9a-f]{2})/i.test(text), "must have % in user and password written as %25")
    .optional(),
  WAYBILL_MAIL_FROM: z
    .string()
    .regex(mailSender, "must be an address, for instance Waybill <waybill@example.org>")
    .optional(),
  WAYBILL_SECRET_KEY: z
    .string()
    .min(shortestSecretKey, `must have at least ${shortestSecretKey} characters`)
    .optional(),
  WAYBILL_RATE_LIMIT_PER_KEY: whole(0, 10_000_000).optional(),
  WAYBILL_RATE_LIMIT_PER_ADDRESS: whole(0, 10_000_000).optional(),
  WAYBILL_METRICS_TOKEN: z.string().min(16, "must have at least 16 characters").optional(),
  WAYBILL_EVIDENCE_DIR: z.string().min(1).optional(),
  WAYBILL_MAX_EVIDENCE_BYTES: whole(1024, 999_999_999).optional(),
  WAYBILL_WEB: z.string().min(1).optional(),
  WAYBILL_SEND_STALL_SECONDS: whole(1, 3600).optional(),
  WAYBILL_KEPT_ANSWER_BYTES: whole(0, 9_999_999_999).optional(),
  ...s3,
  ...limitVariables,
  ...serverVariables,
  ...edgeVariables,
  ...oidcVariables,
  XDG_DATA_HOME: z.string().optional(),
});

type Settings = z.output<typeof Environment>;

/** Where data lives when nothing is said: /var/lib for root, the XDG data home for everybody else. */
function defaultDataDir(xdgDataHome: string | undefined): string {
  if (process.getuid?.() === 0) return "/var/lib/waybill";
  return join(xdgDataHome || join(homedir(), ".local", "share"), "waybill");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** A limit that is off on loopback and at `standard` elsewhere unless set; 0 switches it off. */
function rateLimit(set: number | undefined, host: string, standard: number): number | undefined {
  return (set ?? (isLoopback(host) ? 0 : standard)) || undefined;
}

const standardKeptBytes = 32 * 1024 * 1024;
const standardEvidenceBytes = 10 * 1024 * 1024;

/** The bucket is what decides between files and S3; the other settings mean nothing without it, and it needs the keys. */
function s3Mistakes(set: Settings): string[] {
  const names = Object.keys(s3) as (keyof typeof s3)[];
  const given = names.find((name) => set[name] !== undefined);
  if (given === undefined) return [];
  const required = ["BUCKET", "ACCESS_KEY", "SECRET_KEY"].map(
    (name) => `WAYBILL_EVIDENCE_S3_${name}` as keyof typeof s3,
  );
  return required
    .filter((name) => set[name] === undefined)
    .map((name) => `${name} must be set, because ${given} is`);
}

function evidenceSettings(set: Settings, dataDir: string): EvidenceSettings {
  return {
    dir: resolve(set.WAYBILL_EVIDENCE_DIR ?? join(dataDir, "evidence")),
    maxBytes: set.WAYBILL_MAX_EVIDENCE_BYTES ?? standardEvidenceBytes,
    s3:
      set.WAYBILL_EVIDENCE_S3_BUCKET === undefined
        ? undefined
        : {
            endpoint: set.WAYBILL_EVIDENCE_S3_ENDPOINT,
            bucket: set.WAYBILL_EVIDENCE_S3_BUCKET,
            region: set.WAYBILL_EVIDENCE_S3_REGION ?? "us-east-1",
            accessKey: set.WAYBILL_EVIDENCE_S3_ACCESS_KEY ?? "",
            secretKey: set.WAYBILL_EVIDENCE_S3_SECRET_KEY ?? "",
            prefix: set.WAYBILL_EVIDENCE_S3_PREFIX ?? "",
          },
  };
}

/** One of the two alone sends nothing. */
function smtpMistakes(set: Settings): string[] {
  const [server, sender] = [set.WAYBILL_SMTP_URL, set.WAYBILL_MAIL_FROM];
  if ((server === undefined) === (sender === undefined)) return [];
  return server === undefined
    ? ["WAYBILL_SMTP_URL must be set, because WAYBILL_MAIL_FROM is"]
    : ["WAYBILL_MAIL_FROM must be set, because WAYBILL_SMTP_URL is"];
}

/** What stands for a text in a URL. Bytes that are no UTF-8 stay as they are written. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const submissionPort = 587;
const securePort = 465;

function smtpSettings(set: Settings): SmtpSettings | undefined {
  const server = parseUrl(set.WAYBILL_SMTP_URL ?? "");
  if (server === undefined || set.WAYBILL_MAIL_FROM === undefined) return undefined;
  const secure = server.protocol === "smtps:";
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const user = server.username === "" ? undefined : unescaped(server.username);
  return {
    host,
    port: server.port === "" ? (secure ? securePort : submissionPort) : Number(server.port),
    secure,
    // A password is not sent in the clear, except to this machine.
    requireTls: !secure && user !== undefined && !isLoopback(host),
    user,
    password: user === undefined ? undefined : unescaped(server.password),
    from: set.WAYBILL_MAIL_FROM,
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
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const { variables, mistakes } = withFiles(given);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const parsed = Environment.safeParse(variables);
  if (!parsed.success)
    throw new ConfigError(
      parsed.error.issues.map(
        (issue) => `${issue.path.join(".")} ${issue.message.replace(/^Invalid/, "invalid")}`,
      ),
    );
  const set = parsed.data;
  const incomplete = [...serverMistakes(set), ...s3Mistakes(set), ...smtpMistakes(set), ...oidcMistakes(set)];
  if (incomplete.length > 0) throw new ConfigError(incomplete);
  const host = set.HOST ?? "127.0.0.1";
  const port = set.PORT ?? 8001;
  const dataDir = resolve(set.WAYBILL_DATA_DIR ?? defaultDataDir(set.XDG_DATA_HOME));
  return {
    port,
    host,
    ...serversConfig(set),
    ...edgeConfig(set),
    databasePoolSize: set.WAYBILL_DATABASE_POOL ?? 16,
    dataDir,
    publicUrl: (set.WAYBILL_PUBLIC_URL ?? `http://localhost:${port}`).replace(/\/+$/, ""),
    logLevel: set.WAYBILL_LOG_LEVEL ?? "info",
    dev: set.WAYBILL_DEV ?? false,
    allowPrivateTargets: set.WAYBILL_ALLOW_PRIVATE_TARGETS ?? false,
    smtp: smtpSettings(set),
    oidc: oidcConfig(set),
    secretKey: set.WAYBILL_SECRET_KEY,
    rateLimitPerKey: rateLimit(set.WAYBILL_RATE_LIMIT_PER_KEY, host, 6_000),
    rateLimitPerAddress: rateLimit(set.WAYBILL_RATE_LIMIT_PER_ADDRESS, host, 12_000),
    metricsToken: set.WAYBILL_METRICS_TOKEN,
    evidence: evidenceSettings(set, dataDir),
    sendStallSeconds: set.WAYBILL_SEND_STALL_SECONDS ?? 30,
    keptAnswerBytes: set.WAYBILL_KEPT_ANSWER_BYTES ?? standardKeptBytes,
    web: webFolder(set.WAYBILL_WEB),
    intake: intakeLimits(set, isLoopback(host)),
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
    WAYBILL_DATABASE_DIRECT_URL: "",
    WAYBILL_DATABASE_POOLER: "",
    DATABASE_READ_URL: "",
    DATABASE_URL: isUrl ? target : "",
    ...(isUrl ? {} : { WAYBILL_DATA_DIR: target, WAYBILL_EVIDENCE_DIR: "" }),
  });
}

/** Writes a fresh key to a file that is there in full or not at all. Of processes that start together one does it. */
function makeSecretKey(file: string): void {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const handle = openSync(temporary, "wx", 0o600);
  try {
    writeSync(handle, randomBytes(32).toString("base64url"));
    fsyncSync(handle);
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    closeSync(handle);
    rmSync(temporary, { force: true });
  }
}

/**
 * The key that seals secrets: the configured one, or one made at first start and kept in the data directory.
 * @throws ConfigError for a file that holds no key: going on would seal with a key that anybody can guess.
 */
export function loadSecretKey(config: Pick<Config, "secretKey" | "dataDir">): string {
  if (config.secretKey !== undefined) return config.secretKey;
  const file = join(config.dataDir, "secret-key");
  if (!existsSync(file))
    try {
      mkdirSync(config.dataDir, { recursive: true });
      makeSecretKey(file);
    } catch (error) {
      throw new ConfigError([`the secret key cannot be kept in ${file}: ${(error as Error).message}`]);
    }
  const key = readFileSync(file, "utf8").trim();
  if (key.length < shortestSecretKey)
    throw new ConfigError([`${file} holds no secret key: it has fewer than ${shortestSecretKey} characters`]);
  return key;
}
