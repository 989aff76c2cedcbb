import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterAll, afterEach, describe, expect, it, vi } from "vitest";

import { mistakesOf } from "../test/support/config.ts";
import { packageRoot, readConfig } from "./config.ts";

afterEach(() => vi.restoreAllMocks());

describe("readConfig without any variable", () => {
  it("is a private server on this machine", () => {
    const { dataDir, backups, ...rest } = readConfig({});
    expect(backups).toMatchObject({ to: undefined, keep: undefined, at: { text: "17 2 * * *" } });
    expect(rest).toEqual({
      port: 8001,
      host: "127.0.0.1",
      intake: {
        connections: undefined,
        connectionsPerAddress: undefined,
        pipelined: 64,
        headerSeconds: 15,
        stallSeconds: 10,
        bodyRate: 512,
        bodySeconds: 900,
        unreadSeconds: 5,
        bodyBytes: 192 * 1024 * 1024,
        bodyBytesPerCaller: 64 * 1024 * 1024,
        strangerBodyBytes: 16 * 1024 * 1024,
        strangerBodyBytesPerAddress: 4 * 1024 * 1024,
      },
      trustedProxies: undefined,
      tls: undefined,
      isPlainTextUnsafe: false,
      inheritedSocket: undefined,
      drainSeconds: 0,
      isNotifying: false,
      failedKeysPerAddress: undefined,
      databaseUrl: undefined,
      databasePooler: undefined,
      databaseDirectUrl: undefined,
      databaseReadUrl: undefined,
      roles: { api: true, jobs: true },
      databasePoolSize: 16,
      publicUrl: "http://localhost:8001",
      logLevel: "info",
      dev: false,
      allowPrivateTargets: false,
      traces: undefined,
      auditTargets: [],
      auditToken: undefined,
      auditCa: undefined,
      auditReads: false,
      smtp: undefined,
      oidc: undefined,
      sendStallSeconds: 30,
      keptAnswerBytes: 32 * 1024 * 1024,
      web: join(packageRoot, "dist", "web"),
      secretKey: undefined,
      rateLimitPerKey: undefined,
      rateLimitPerAddress: undefined,
      metricsToken: undefined,
      slowMs: 500,
      metricsByOrg: false,
      wal: undefined,
      upgrade: { backupFirst: true, backupFolder: join(dataDir, "backups"), oldEngine: undefined },
      evidence: { dir: join(dataDir, "evidence"), maxBytes: 10 * 1024 * 1024, s3: undefined },
    });
  });

  it("takes empty ones for absent", () => {
    const empty = { PORT: "", HOST: "", DATABASE_URL: "", WAYBILL_DEV: "", WAYBILL_PUBLIC_URL: "" };
    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

describe("each variable", () => {
  it.each<[Record<string, string>, Partial<ReturnType<typeof readConfig>>]>([
    [{ PORT: "9000" }, { port: 9000, publicUrl: "http://localhost:9000" }],
    [{ PORT: "0" }, { port: 0 }],
    [{ HOST: "0.0.0.0" }, { host: "0.0.0.0", rateLimitPerKey: 6000, rateLimitPerAddress: 12_000 }],
    [{ HOST: "127.1.2.3" }, { rateLimitPerKey: undefined }],
    [{ HOST: "::1" }, { rateLimitPerKey: undefined }],
    [{ HOST: "localhost" }, { rateLimitPerAddress: undefined }],
    [{ DATABASE_URL: "postgres://u:p@h/d" }, { databaseUrl: "postgres://u:p@h/d" }],
    [{ DATABASE_URL: "postgresql://h/d" }, { databaseUrl: "postgresql://h/d" }],
    [
      { WAYBILL_TRUSTED_PROXIES: "loopback, 10.0.0.0/8,2001:db8::1" },
      { trustedProxies: ["loopback", "10.0.0.0/8", "2001:db8::1"] },
    ],
    [{ WAYBILL_TRUSTED_PROXIES: "2" }, { trustedProxies: 2 }],
    [{ WAYBILL_DATABASE_POOL: "6" }, { databasePoolSize: 6 }],
    [{ WAYBILL_DATA_DIR: "some/where" }, { dataDir: resolve("some/where") }],
    [{ WAYBILL_PUBLIC_URL: "https://a.example/waybill//" }, { publicUrl: "https://a.example/waybill" }],
    [{ WAYBILL_LOG_LEVEL: "debug" }, { logLevel: "debug" }],
    [{ WAYBILL_DEV: "1" }, { dev: true }],
    [{ WAYBILL_DEV: "true" }, { dev: true }],
    [{ WAYBILL_DEV: "0" }, { dev: false }],
    [{ WAYBILL_ALLOW_PRIVATE_TARGETS: "true" }, { allowPrivateTargets: true }],
    [{ WAYBILL_ALLOW_PRIVATE_TARGETS: "false" }, { allowPrivateTargets: false }],
    [{ WAYBILL_SECRET_KEY: "s".repeat(32) }, { secretKey: "s".repeat(32) }],
    [{ WAYBILL_RATE_LIMIT_PER_KEY: "5" }, { rateLimitPerKey: 5 }],
    [{ WAYBILL_RATE_LIMIT_PER_KEY: "0", HOST: "0.0.0.0" }, { rateLimitPerKey: undefined }],
    [{ WAYBILL_RATE_LIMIT_PER_ADDRESS: "7" }, { rateLimitPerAddress: 7 }],
    [{ WAYBILL_METRICS_TOKEN: "m".repeat(16) }, { metricsToken: "m".repeat(16) }],
    [{ WAYBILL_AUDIT_READS: "1" }, { auditReads: true }],
    [{ WAYBILL_AUDIT_TO_TOKEN: "t" }, { auditToken: "t" }],
  ])("%j", (environment, expected) => expect(readConfig(environment)).toMatchObject(expected));

  it("ignores what is not ours", () => {
    expect(readConfig({ PATH: "/bin", WAYBILL_UNHEARD_OF: "x" })).toEqual(readConfig({}));
  });
});

describe("the data directory", () => {
  it("is the system's for root", () => {
    vi.spyOn(process, "getuid").mockReturnValue(0);
    expect(readConfig({ XDG_DATA_HOME: "/x" }).dataDir).toBe("/var/lib/waybill");
  });

  it("is the user's own for everybody else", () => {
    vi.spyOn(process, "getuid").mockReturnValue(1000);
    expect(readConfig({ XDG_DATA_HOME: "/x" }).dataDir).toBe("/x/waybill");
    expect(readConfig({}).dataDir).toBe(join(homedir(), ".local/share/waybill"));
  });
});

describe("each mistake", () => {
  it.each([
    [{ PORT: "http" }, "PORT must be a whole number from 0 to 65535"],
    [{ PORT: "-1" }, "PORT must be a whole number from 0 to 65535"],
    [{ PORT: "65536" }, "PORT must be at most 65535"],
    [{ DATABASE_URL: "mysql://h" }, "DATABASE_URL must be a URL starting with postgres:// or postgresql://"],
    [{ DATABASE_URL: "h" }, "DATABASE_URL must be a URL starting with postgres:// or postgresql://"],
    [{ WAYBILL_DATABASE_POOL: "5" }, "WAYBILL_DATABASE_POOL must be at least 6"],
    [{ WAYBILL_DATABASE_POOL: "201" }, "WAYBILL_DATABASE_POOL must be at most 200"],
    [{ WAYBILL_PUBLIC_URL: "ftp://h" }, "WAYBILL_PUBLIC_URL must be a URL starting with http:// or https://"],
    [{ WAYBILL_LOG_LEVEL: "loud" }, "WAYBILL_LOG_LEVEL invalid option"],
    [{ WAYBILL_DEV: "yes" }, "WAYBILL_DEV invalid option"],
    [{ WAYBILL_ALLOW_PRIVATE_TARGETS: "2" }, "WAYBILL_ALLOW_PRIVATE_TARGETS invalid option"],
    [{ WAYBILL_MAIL_FROM: "somebody" }, "WAYBILL_MAIL_FROM must be an address"],
    [{ WAYBILL_MAIL_FROM: "a@b\r\nBcc: c@d" }, "WAYBILL_MAIL_FROM must be an address"],
    [{ WAYBILL_SECRET_KEY: "short" }, "WAYBILL_SECRET_KEY must have at least 32 characters"],
    [{ WAYBILL_RATE_LIMIT_PER_KEY: "x" }, "WAYBILL_RATE_LIMIT_PER_KEY must be a whole number"],
    [
      { WAYBILL_RATE_LIMIT_PER_ADDRESS: "99999999" },
      "WAYBILL_RATE_LIMIT_PER_ADDRESS must be at most 10000000",
    ],
    ...[
      "http://collector/",
      "https://ann:secret@collector/",
      "https://collector/#xml",
      "syslog+tls://",
      "syslog+tls://collector/path",
      "syslog://collector",
      "file:///",
      "file://audit.jsonl",
      "/var/log/audit.jsonl",
      "https://a/,https://a/",
      "https://a/,",
      Array.from({ length: 9 }, (_, index) => `https://a/${index}`).join(),
    ].map((value): [Record<string, string>, string] => [
      { WAYBILL_AUDIT_TO: value },
      "WAYBILL_AUDIT_TO must be at most 8 different URLs with commas between, each starting with file:///, https:// or syslog+tls://, without a password, and with #cef or #ocsf at its end for another form than JSON",
    ]),
    [
      { WAYBILL_AUDIT_TO_TOKEN: "two words" },
      "WAYBILL_AUDIT_TO_TOKEN must be a token of printable characters without spaces",
    ],
    [{ WAYBILL_AUDIT_TO_CA: "none" }, "WAYBILL_AUDIT_TO_CA must be certificates in PEM"],
    [{ WAYBILL_METRICS_TOKEN: "short" }, "WAYBILL_METRICS_TOKEN must have at least 16 characters"],
  ])("%j", (environment, mistake) => {
    const mistakes = mistakesOf(environment);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toContain(mistake);
  });

  it("is named together with all others, and without secret values", () => {
    const mistakes = mistakesOf({ PORT: "x", WAYBILL_DEV: "x", WAYBILL_SECRET_KEY: "hush" });
    expect(mistakes.map((mistake) => mistake.split(" ", 1)[0])).toEqual([
      "PORT",
      "WAYBILL_DEV",
      "WAYBILL_SECRET_KEY",
    ]);
    expect(mistakes.join("\n")).not.toContain("hush");
  });
});

describe("the evidence bucket", () => {
  const bucket = {
    WAYBILL_EVIDENCE_S3_BUCKET: "evidence",
    WAYBILL_EVIDENCE_S3_ACCESS_KEY: "key",
    WAYBILL_EVIDENCE_S3_SECRET_KEY: "secret",
  };

  it("is used when it is named", () => {
    expect(readConfig(bucket).evidence.s3).toEqual({
      endpoint: undefined,
      bucket: "evidence",
      region: "us-east-1",
      accessKey: "key",
      secretKey: "secret",
      prefix: "",
    });
    const more = {
      WAYBILL_EVIDENCE_S3_ENDPOINT: "http://127.0.0.1:9000",
      WAYBILL_EVIDENCE_S3_REGION: "eu-north-1",
      WAYBILL_EVIDENCE_S3_PREFIX: "waybill/",
    };
    expect(readConfig({ ...bucket, ...more }).evidence.s3).toMatchObject({
      endpoint: "http://127.0.0.1:9000",
      region: "eu-north-1",
      prefix: "waybill/",
    });
  });

  it.each([
    [
      { WAYBILL_EVIDENCE_S3_ENDPOINT: "http://h" },
      ["WAYBILL_EVIDENCE_S3_BUCKET", "WAYBILL_EVIDENCE_S3_ACCESS_KEY", "WAYBILL_EVIDENCE_S3_SECRET_KEY"],
    ],
    [{ ...bucket, WAYBILL_EVIDENCE_S3_SECRET_KEY: "" }, ["WAYBILL_EVIDENCE_S3_SECRET_KEY"]],
    [{ ...bucket, WAYBILL_EVIDENCE_S3_ENDPOINT: "ftp://h" }, ["WAYBILL_EVIDENCE_S3_ENDPOINT"]],
    [{ ...bucket, WAYBILL_EVIDENCE_S3_BUCKET: "A b" }, ["WAYBILL_EVIDENCE_S3_BUCKET"]],
    [{ ...bucket, WAYBILL_EVIDENCE_S3_PREFIX: "/x" }, ["WAYBILL_EVIDENCE_S3_PREFIX"]],
  ])("refuses %j", (environment, names) => {
    const mistakes = mistakesOf(environment);
    expect(mistakes.map((mistake) => mistake.split(" ", 1)[0])).toEqual(names);
  });
});

describe("evidence files", () => {
  it("may go elsewhere, and be limited", () => {
    const set = { WAYBILL_EVIDENCE_DIR: "some/where", WAYBILL_MAX_EVIDENCE_BYTES: "2048" };
    expect(readConfig(set).evidence).toEqual({ dir: resolve("some/where"), maxBytes: 2048, s3: undefined });
    expect(mistakesOf({ WAYBILL_MAX_EVIDENCE_BYTES: "10MB" })).toHaveLength(1);
  });
});

describe("secrets in files", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-secrets-"));
  const fileWith = (text: string): string => {
    const file = join(folder, `secret-${readdirSync(folder).length}`);
    writeFileSync(file, text);
    return file;
  };
  afterAll(() => rmSync(folder, { recursive: true }));

  it("stand for the variables, without the end of the line", () => {
    const config = readConfig({
      DATABASE_URL_FILE: fileWith("postgres://u:p@h/d\n"),
      WAYBILL_METRICS_TOKEN_FILE: fileWith("a-token-for-the-scraper\r\n"),
      WAYBILL_SECRET_KEY_FILE: "",
    });
    expect(config).toMatchObject({
      databaseUrl: "postgres://u:p@h/d",
      metricsToken: "a-token-for-the-scraper",
      secretKey: undefined,
    });
  });

  it("are held to the same rules, and never told", () => {
    const mistakes = mistakesOf({ WAYBILL_SECRET_KEY_FILE: fileWith("hush") });
    expect(mistakes).toEqual(["WAYBILL_SECRET_KEY must have at least 32 characters"]);
  });

  it("must be there, hold something, and be given once", () => {
    const empty = fileWith("\n");
    expect(mistakesOf({ WAYBILL_SECRET_KEY_FILE: empty })).toEqual([
      `WAYBILL_SECRET_KEY_FILE names an empty file: ${empty}`,
    ]);
    expect(mistakesOf({ WAYBILL_SMTP_URL_FILE: join(folder, "none") })).toEqual([
      expect.stringMatching(/^WAYBILL_SMTP_URL_FILE cannot be read: ENOENT/),
    ]);
    expect(
      mistakesOf({ DATABASE_URL: "postgres://h/d", DATABASE_URL_FILE: fileWith("postgres://h/d") }),
    ).toEqual(["DATABASE_URL and DATABASE_URL_FILE are both set: one of them must go"]);
  });
});

describe("trusted proxies", () => {
  it.each([
    "true",
    "*",
    "0",
    "11",
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "proxy.example.org",
    "10.0.0.1,",
    "loopback 10.0.0.1",
  ])("are not %s", (text) => {
    expect(mistakesOf({ WAYBILL_TRUSTED_PROXIES: text })).toEqual([
      "WAYBILL_TRUSTED_PROXIES must be addresses and networks with commas between (10.0.0.0/8, loopback), or a number of proxies from 1 to 10",
    ]);
  });
});

describe("several servers", () => {
  const database = "postgres://db.test/waybill";

  it("have roles, each or both", () => {
    const rolesOf = (roles: string) => readConfig({ DATABASE_URL: database, WAYBILL_ROLES: roles }).roles;
    expect(rolesOf("api")).toEqual({ api: true, jobs: false });
    expect(rolesOf("jobs")).toEqual({ api: false, jobs: true });
    expect(rolesOf("jobs, api")).toEqual({ api: true, jobs: true });
    expect(mistakesOf({ DATABASE_URL: database, WAYBILL_ROLES: "web" })).toEqual([
      "WAYBILL_ROLES.0 must be api, jobs, or both with a comma between",
    ]);
  });

  it("share a database that they have not brought along", () => {
    expect(mistakesOf({ WAYBILL_ROLES: "api", DATABASE_READ_URL: database })).toEqual([
      "DATABASE_URL must be set, because DATABASE_READ_URL is",
      "WAYBILL_ROLES must be api,jobs without DATABASE_URL: a data directory has one server",
    ]);
    expect(mistakesOf({ WAYBILL_DATABASE_POOLER: "session" })).toEqual([
      "DATABASE_URL must be set, because WAYBILL_DATABASE_POOLER is",
    ]);
  });

  it("reach PostgreSQL itself for what no pooler of transactions can do", () => {
    const pooled = { DATABASE_URL: database, WAYBILL_DATABASE_POOLER: "transaction" };
    expect(mistakesOf(pooled)).toEqual([
      "WAYBILL_DATABASE_DIRECT_URL must be set, because WAYBILL_DATABASE_POOLER is transaction",
    ]);
    expect(readConfig({ ...pooled, WAYBILL_DATABASE_DIRECT_URL: database })).toMatchObject({
      databasePooler: "transaction",
      databaseDirectUrl: database,
    });
  });
});

describe("WAYBILL_AUDIT_TO", () => {
  it("names files, web servers and collectors of syslog, each with its form", () => {
    const text =
      "file:///var/log/way%20bill.jsonl, https://collector.example.org:8443/in?key=hidden#ocsf,syslog+tls://[2001:db8::1]#cef";
    const { auditTargets } = readConfig({ WAYBILL_AUDIT_TO: text });
    expect(auditTargets).toMatchObject([
      {
        kind: "file",
        path: "/var/log/way bill.jsonl",
        format: "jsonl",
        name: "file:///var/log/way bill.jsonl",
      },
      {
        kind: "https",
        url: "https://collector.example.org:8443/in?key=hidden",
        format: "ocsf",
        name: "https://collector.example.org:8443/in",
      },
      { kind: "syslog", host: "2001:db8::1", port: 6514, format: "cef", name: "syslog+tls://[2001:db8::1]" },
    ]);
    const [again] = readConfig({ WAYBILL_AUDIT_TO: "file:///var/log/way%20bill.jsonl#cef" }).auditTargets;
    expect(again?.id).toBe(auditTargets[0]?.id);
  });
});
