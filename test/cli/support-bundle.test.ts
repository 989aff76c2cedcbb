import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { confirmed } from "../../src/cli/support-bundle.ts";
import { findManagedPostgres } from "../../src/db/managed/index.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import { readForeignTar } from "../../src/lib/tar-reader.ts";
import { freePort, spawnWaybill, startServer, withUsedDataDir } from "../support/server-process.ts";

/** Everything that was planted, to be looked for. */
const planted = new Set<string>();

function noted(secret: string): string {
  planted.add(secret);
  return secret;
}

const letters = (count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + randomInt(26))).join("");

/** A secret as people choose them: nothing about it looks like one. */
const chosen = (): string => noted(`horse-${letters(12)}`);
/** A secret as programs make them. */
const made = (): string => noted(randomBytes(24).toString("base64url"));

const time = "2026-11-23 10:00:00.000 UTC [42]";
const line = (fields: object): string =>
  JSON.stringify({ level: 30, time: 1_780_000_000_000, pid: 7, hostname: "host", msg: "request", ...fields });

/** Lines of logs, a secret in each, in all the ways in which one could get there. */
const leaks: ((secret: string) => string)[] = [
  (s) => line({ path: `/api/v2/flows/acme/${s}` }),
  (s) => line({ headers: { authorization: `Bearer ${s}`, cookie: `__Host-waybill-session=${s}` } }),
  (s) => line({ token: s, nested: { password: s } }),
  (s) => line({ [s]: 1 }),
  (s) => line({ msg: `cannot read '${s}'` }),
  (s) => line({ msg: `cannot read "${s}", it is away` }),
  (s) => line({ msg: `password=${s} is wrong` }),
  (s) => line({ msg: `the api key: ${s}`.replace("api key", "api_key") }),
  (s) => line({ msg: `Authorization: Bearer ${s}` }),
  (s) => line({ msg: `sent to https://hooks.example.com/services/${s}` }),
  (s) => line({ msg: `sent to https://${s}@hooks.example.com:8443/x?y=1` }),
  (s) => line({ msg: `sign in at http://localhost:8001/sign-in#${s}` }),
  (s) =>
    line({
      err: { type: "Error", message: `connect to postgres://waybill:${s}@db/waybill failed`, stack: "" },
    }),
  (s) => line({ err: { message: `getaddrinfo ENOTFOUND ${s}.example.com`, code: "ENOTFOUND" } }),
  (s) =>
    line({ err: { message: "failed", cause: { message: `duplicate "${s}"`, detail: `Key (name)=(${s})` } } }),
  (s) =>
    line({
      err: { message: "failed", stack: `Error: token=${s}\n    at send (/home/${s}/app/dist/main.js:1:2)` },
    }),
  (s) => line({ statements: [{ name: "find-trail", ms: 7, text: `select '${s}'` }], values: [s] }),
  (s) => line({ operation: "create_flow", reason: s, target: s, mistakes: [s] }),
  (s) => `Nov 23 10:00:00 host waybill[7]: ${line({ user: s })}`,
  (s) => `Nov 23 10:00:00 host other[7]: the password is ${s}`,
  (s) => `the password is ${s}`,
  (s) => `{"msg":"cut off","token":"${s}`,
  (s) => `{"msg":"cut off","token":"${s}"}}`,
  (s) => `${time} ERROR:  invalid input syntax for type uuid: "${s}"`,
  (s) => `${time} DETAIL:  Key (name)=(${s}) already exists.`,
  (s) => `${time} STATEMENT:  select * from users where name = '${s}'`,
  (s) => `${time} CONTEXT:  COPY users, line 1: ${s}`,
  (s) => `${time} FATAL:  password authentication failed for user "${s}"`,
  (s) => `\tselect '${s}'`,
  (s) => `-----BEGIN PRIVATE KEY-----\n${s}\n-----END PRIVATE KEY-----`,
  (s) => `Error: connect to https://someone:${s}@example.com/ refused`,
  (s) => `    at Object.<anonymous> (/srv/${s}/dist/main.js:1:2)`,
  (s) => `Configuration: WAYBILL_SMTP_URL=${s} is wrong`,
];
/** Ways in which only what looks random is known. */
const randomLeaks: ((secret: string) => string)[] = [
  (s) => line({ msg: `the key is ${s} now` }),
  (s) => line({ msg: `the key is wb_${s} now` }),
  (s) => line({ err: { message: `refused ${s}` } }),
  (s) => `Error: refused ${s}`,
  (s) => `${time} LOG:  archive command failed with ${s}`,
];

/** A log with everything in it that is not to be seen, and some lines that are. */
function leakyLog(): string {
  return [
    line({ operation: "list_flows", status: 200, ms: 1.5, reqId: "0190d3b0-0000-7000-8000-000000000001" }),
    `${time} LOG:  checkpoint of relation "trails" done`,
    ...leaks.flatMap((leak) => [leak(chosen()), leak(chosen()), leak(chosen()), leak(made())]),
    ...randomLeaks.flatMap((leak) => [
      leak(made()),
      leak(made()),
      leak(noted(randomBytes(20).toString("hex"))),
    ]),
    "",
  ].join("\n");
}

interface Bundle {
  code: number;
  output: string;
  file: string;
  /** Texts by name, without the folder that they are in. */
  files: Map<string, string>;
}

describe.skipIf(inject("cluster"))("waybill support-bundle", { timeout: 240_000 }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "waybill-support-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function bundle(environment: Record<string, string>, args: readonly string[] = []): Promise<Bundle> {
    const file = join(folder, `${letters(8)}.tar.gz`);
    const child = spawnWaybill(["support-bundle", "--yes", "--to", file, ...args], environment);
    const ended = new Promise<number>((done) => child.once("close", done));
    const [out, err] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
    const code = await ended;
    const files = new Map<string, string>();
    if (code === 0)
      for await (const member of readForeignTar(Readable.from([gunzipSync(await readFile(file))])))
        files.set(member.path.replace(/^[^/]*\//, ""), (await buffer(member.content)).toString("utf8"));
    return { code, output: out + err, file, files };
  }

  /** Looks for every secret, as it is and as it is written elsewhere, in all files and in what was printed. */
  function expectNone({ files, output }: Bundle): void {
    const all = [...files].map(([name, content]) => `${name}\n${content}`).join("\n") + output;
    const found = [...planted].filter((secret) =>
      [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64").replace(/=+$/, "")].some(
        (form) => all.includes(form),
      ),
    );
    expect(found.map((secret) => all.slice(all.indexOf(secret) - 80, all.indexOf(secret) + 60))).toEqual([]);
  }

  /** Sends a request as the first administrator. */
  async function ask(
    url: string,
    key: string,
    method: string,
    path: string,
    body: object,
  ): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await fetch(`${url}/api/v2${path}`, { method, headers, body: JSON.stringify(body) });
    expect([path, answer.status < 300 ? "done" : await answer.clone().text()]).toEqual([path, "done"]);
    return answer;
  }

  /** Reports and sets up what organizations have, with a secret in every text that is free. @returns a connection that shows some, too. */
  async function plantData(url: string, dataDir: string): Promise<Database> {
    const key = noted((await readFile(join(dataDir, "initial-admin-key"), "utf8")).trim());
    noted((await readFile(join(dataDir, "secret-key"), "utf8")).trim());
    const flow = chosen();
    for (const name of [flow, chosen(), chosen()])
      await ask(url, key, "PUT", "/flows/main", {
        name,
        description: chosen(),
        visibility: "private",
        tags: { [chosen()]: chosen() },
      });
    await ask(url, key, "POST", `/artifacts/main/${flow}`, {
      fingerprint: noted(randomBytes(32).toString("hex")),
      filename: chosen(),
      build_url: `https://ci.example.com/${chosen()}`,
      commit_url: `https://git.example.com/${chosen()}`,
      git_commit: noted(randomBytes(20).toString("hex")),
      trail_name: chosen(),
      user_data: { [chosen()]: made() },
    });
    const environment = chosen();
    await ask(url, key, "PUT", "/environments/main", {
      name: environment,
      type: "server",
      description: chosen(),
    });
    const digests = { [chosen()]: noted(randomBytes(32).toString("hex")) };
    await ask(url, key, "PUT", `/environments/main/${environment}/report/server`, {
      artifacts: [{ digests, creationTimestamp: 1 }],
    });
    const connection = await findManagedPostgres(dataDir);
    const db = connect({ connection: connection!, max: 1 });
    await db.pool.query("update organizations set display_name = $1", [chosen()]);
    await db.pool.query(`create table looked as select '${chosen()}'::text as secret`);
    // A connection with a name, whose last statement PostgreSQL shows to all who may look.
    await db.pool.query("select set_config('application_name', $1, false)", [chosen()]);
    await db.pool.query(`select '${chosen()}'`);
    return db;
  }

  it("has what helps and none of 200 secrets, with its server running and stopped", async () => {
    await withUsedDataDir(async (dataDir) => {
      const log = join(folder, `${chosen()}.log`);
      await writeFile(log, leakyLog());
      const smtp = chosen();
      const settings = {
        PORT: String(await freePort()),
        WAYBILL_METRICS_TOKEN: chosen(),
        WAYBILL_METRICS_BY_ORG: "1",
        WAYBILL_SMTP_URL: `smtp://${chosen()}:${smtp}%21@127.0.0.1:1`,
        WAYBILL_MAIL_FROM: `${chosen()}@example.org`,
        WAYBILL_AUDIT_TO: `file://${folder}/${chosen()}.jsonl`,
        WAYBILL_AUDIT_TO_TOKEN: chosen(),
        WAYBILL_OIDC_ISSUER: `http://127.0.0.1:1/${chosen()}`,
        WAYBILL_OIDC_CLIENT_ID: chosen(),
        WAYBILL_OIDC_CLIENT_SECRET: chosen(),
        WAYBILL_BACKUP_TO: join(folder, chosen()),
        WAYBILL_SLOW_MS: "499",
        WAYBILL_LOG_LEVEL: "info",
        WAYBILL_TYPED_WRONG: chosen(),
        PGPASSWORD: chosen(),
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${chosen()}`,
      };
      const server = await startServer(dataDir, settings);
      const open = await plantData(server.url, dataDir);
      expect(planted.size).toBeGreaterThanOrEqual(180);

      const environment = { ...settings, WAYBILL_DATA_DIR: dataDir };
      const running = await bundle(environment, ["--log", log, "--log", join(folder, chosen())]);
      expect(running.code, running.output).toBe(0);
      expectNone(running);
      expect((await stat(running.file)).mode & 0o777).toBe(0o600);
      expect((await readdir(folder)).filter((name) => name.includes("partial"))).toEqual([]);
      const json = (name: string) => JSON.parse(running.files.get(name) ?? "null");
      expect(json("configuration.json")).toMatchObject({
        values: { WAYBILL_SLOW_MS: "499", WAYBILL_LOG_LEVEL: "info" },
        set: expect.arrayContaining(["WAYBILL_SMTP_URL", "WAYBILL_OIDC_CLIENT_SECRET", "WAYBILL_DATA_DIR"]),
        unknown: expect.arrayContaining(["WAYBILL_TYPED_WRONG"]),
      });
      expect(json("health.json")).toMatchObject({
        "/live": { status: 200 },
        "/health": { report: { checks: expect.any(Array) } },
      });
      expect(json("doctor.json").findings.length).toBeGreaterThan(35);
      expect(json("database/migrations.json")).toMatchObject({ pending: [], newer: [] });
      expect(json("database/tables.json").map(({ name }: { name: string }) => name)).toContain("trails");
      expect(json("database/activity.json").length).toBeGreaterThan(0);
      expect(json("database/plans.json").plans).toHaveLength(20 - json("database/plans.json").missing.length);
      expect(running.files.get("metrics.txt")).toMatch(
        /^waybill_reports_total\{kind="artifact",org="\[removed\]"\} 1$/m,
      );
      expect(running.files.get("logs/server-1.log")).toContain(
        '"operation":"list_flows","status":200,"ms":1.5',
      );
      expect(running.files.get("logs/server-1.log")).toContain('checkpoint of relation "trails" done');
      expect(running.files.has("logs/postgres.log")).toBe(true);
      // What could not be had is a line, here and in the file.
      expect(running.files.get("contents.txt")).toMatch(/^logs\/server-2\.log: not there: ENOENT/m);
      expect(running.output).toMatch(/logs\/server-2\.log +not there: ENOENT/);
      expect(running.output).toMatch(/metrics\.txt +\d/);

      await open.close();
      expect(await server.stop()).toBe(0);
      const stopped = await bundle(environment);
      expect(stopped.code, stopped.output).toBe(0);
      expectNone(stopped);
      expect(stopped.files.get("contents.txt")).toMatch(/^metrics\.txt: not there: .*ECONNREFUSED/m);
      for (const name of ["doctor.json", "database/tables.json", "database/plans.json", "configuration.json"])
        expect(stopped.files.has(name), name).toBe(true);
    });
  });

  it("is made without a database, and with settings that cannot be used", async () => {
    const away = {
      DATABASE_URL: `postgres://${chosen()}:${chosen()}@127.0.0.1:${await freePort()}/${chosen()}?application_name=${chosen()}`,
      WAYBILL_SECRET_KEY: `${chosen()}-${chosen()}`,
      WAYBILL_EVIDENCE_S3_ENDPOINT: `http://127.0.0.1:1/${chosen()}`,
      WAYBILL_EVIDENCE_S3_BUCKET: chosen(),
      WAYBILL_EVIDENCE_S3_ACCESS_KEY: chosen(),
      WAYBILL_EVIDENCE_S3_SECRET_KEY: chosen(),
      WAYBILL_DATA_DIR: join(folder, chosen()),
      PORT: String(await freePort()),
    };
    const unreachable = await bundle(away);
    expect(unreachable.code, unreachable.output).toBe(0);
    expectNone(unreachable);
    expect(JSON.parse(unreachable.files.get("doctor.json")!).findings).toContainEqual(
      expect.objectContaining({ name: "reachable", status: "failing" }),
    );
    expect(unreachable.files.get("contents.txt")).toMatch(/^database\/tables\.json: not there: /m);

    const wrong = await bundle({
      ...away,
      PORT: chosen(),
      WAYBILL_SMTP_URL: chosen(),
      WAYBILL_LOG_LEVEL: chosen(),
    });
    expect(wrong.code, wrong.output).toBe(0);
    expectNone(wrong);
    expect(JSON.parse(wrong.files.get("configuration.json")!)).toMatchObject({
      mistakes: expect.arrayContaining([expect.stringContaining("PORT")]),
      set: expect.arrayContaining(["PORT", "WAYBILL_LOG_LEVEL"]),
    });
    expect(wrong.files.get("contents.txt")).toMatch(/^doctor\.json: not there: the settings have mistakes/m);
    expect(planted.size).toBeGreaterThanOrEqual(200);
  });

  it("writes nothing over a file that is there, and nothing unasked", async () => {
    const taken = join(folder, "taken");
    await writeFile(taken, "mine");
    for (const [args, reason] of [
      [["--yes", "--to", taken], /there already/],
      [["--to", join(folder, "new")], /say --yes/],
    ] as const) {
      const child = spawnWaybill(["support-bundle", ...args], { WAYBILL_DATA_DIR: join(folder, "none") });
      const ended = new Promise<number>((done) => child.once("close", done));
      expect(await text(child.stderr!)).toMatch(reason);
      expect(await ended).toBe(2);
    }
    expect(await readFile(taken, "utf8")).toBe("mine");
    expect(await readdir(folder)).not.toContain("new");
  });

  it.each([
    ["y\n", true],
    ["YES\n", true],
    ["\n", false],
    ["no\n", false],
    ["", false],
  ])("takes %j of whoever is asked as %s", async (said, answer) => {
    expect(await confirmed("Write it? ", Readable.from([said]), new PassThrough())).toBe(answer);
  });
});
