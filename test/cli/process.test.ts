import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { packageRoot } from "../../src/config.ts";
import { createDatabase, dropDatabase, urlOf } from "../support/databases.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { builtProgram } from "../support/program.ts";
import { uniqueName } from "../support/unique-name.ts";

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** The real command line with these arguments, and how it is run: with nothing of the environment of the tests. */
function commandOf(args: readonly string[], environment: Record<string, string>) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...environment };
  return { command: [builtProgram(), ...args], options: { env, cwd: packageRoot } };
}

/** Begins the real command line in a process of its own. */
function begin(args: readonly string[], environment: Record<string, string>): ChildProcessWithoutNullStreams {
  const { command, options } = commandOf(args, environment);
  return spawn(process.execPath, command, options);
}

/** Runs the real command line in a process of its own, to its end. */
function waybill(args: string[], environment: Record<string, string>, stdin = ""): Promise<Outcome> {
  const { command, options } = commandOf(args, environment);
  return new Promise((resolve) => {
    const child = execFile(process.execPath, command, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end(stdin);
  });
}

function databaseUrl(name: string): string {
  return urlOf(inject("postgres"), name);
}

let app: TestApp;
let folder: string;
let database: string;
let environment: Record<string, string>;

beforeAll(async () => {
  app = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), "waybill-cli-"));
  const { rows } = await app.deps.db.pool.query<{ name: string }>("select current_database() as name");
  database = rows[0]!.name;
  environment = { DATABASE_URL: databaseUrl(database), WAYBILL_DATA_DIR: folder };
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

describe("the waybill command", { timeout: 120_000 }, () => {
  it("ends as it would when nobody reads what it prints", async () => {
    for (const [args, expected] of [
      [["admin", "--help"], 0],
      [["admin", "create-user", uniqueName("unread")], 0],
      [["backup", "--to", "-"], 1],
    ] as const) {
      const child = begin(args, environment);
      child.stdout.destroy();
      const told = text(child.stderr);
      const [code] = (await once(child, "exit")) as [number | null];
      expect([code, await told]).toEqual([
        expected,
        expected === 0 ? "" : "Whoever was to read the backup has gone: there is none\n",
      ]);
    }
  });

  it("manages a running server from a process of its own", async () => {
    const name = uniqueName("ann");
    const made = await waybill(["admin", "create-user", name], environment);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    const value = `value-${name}-from-elsewhere`;
    const imported = await waybill(["admin", "import-key", "--user", name], environment, `${value}\n`);
    expect([imported.code, imported.stderr]).toEqual([0, ""]);
    expect(imported.stdout).not.toContain(value);
    expect((await app.as(value).get(`/organizations/${name}`)).status).toBe(200);
    const again = await waybill(["admin", "create-user", name], environment);
    expect([again.code, again.stderr]).toEqual([1, `The name '${name}' is already taken\n`]);
  });

  it("explains itself", async () => {
    const help = await waybill(["--help"], environment);
    expect(help.code).toBe(0);
    for (const word of ["serve", "admin", "dev"]) expect(help.stdout).toContain(word);
    expect((await waybill(["admin", "no-such-command"], environment)).code).not.toBe(0);
  });

  it("says when no server is running", async () => {
    const { code, stderr } = await waybill(["admin", "list", "users"], { WAYBILL_DATA_DIR: folder });
    expect(code).toBe(1);
    expect(stderr).toContain(`No server is running on the data directory ${folder}.`);
  });

  it("says when the database cannot be reached, or was never set up", async () => {
    const away = { DATABASE_URL: "postgres://u:hush@127.0.0.1:1/x" };
    const unreachable = await waybill(["admin", "list", "users"], away);
    expect(unreachable.code).toBe(1);
    expect(unreachable.stderr).toContain("The database cannot be reached");
    expect(unreachable.stderr).not.toContain("hush");

    const empty = uniqueName("empty").replaceAll("-", "_");
    await createDatabase(inject("postgres"), empty);
    try {
      const unset = await waybill(["admin", "list", "users"], { DATABASE_URL: databaseUrl(empty) });
      expect(unset.stderr).toContain("The database is empty: start the server on it once");
    } finally {
      await dropDatabase(inject("postgres"), empty);
    }
  });

  it("resets only where development is switched on", async () => {
    const seed = join(folder, "seed.json");
    const key = "a-key-for-the-tests-of-reset";
    await writeFile(seed, JSON.stringify({ users: [{ name: "zoe", api_keys: [key] }] }));
    const refused = await waybill(["dev", "reset", "--seed", seed], environment);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("works only when WAYBILL_DEV=1 is set");
    expect((await app.as(key).get("/organizations")).status).toBe(401);
    const done = await waybill(["dev", "reset", "--seed", seed], { ...environment, WAYBILL_DEV: "1" });
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect((await app.as(key).get("/organizations/zoe")).status).toBe(200);
  });
});

/** `waybill serve`, from its start until it is ready and was asked to stop. @returns what it printed. */
function serveOnce(environment: Record<string, string>): Promise<Outcome> {
  const child = begin(["serve"], { PORT: "0", ...environment });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    // A second signal would end it at once.
    if (stdout.includes("waybill is ready") && !child.killed) child.kill("SIGTERM");
  });
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}

describe("waybill serve on an empty database", { timeout: 120_000 }, () => {
  it("of two processes that start at once one sets it up and keeps the key", async () => {
    const empty = uniqueName("first").replaceAll("-", "_");
    await createDatabase(inject("postgres"), empty);
    try {
      const folders = [join(folder, "one"), join(folder, "two")];
      const outcomes = await Promise.all(
        folders.map((data) =>
          serveOnce({
            DATABASE_URL: databaseUrl(empty),
            WAYBILL_DATA_DIR: data,
            WAYBILL_EVIDENCE_DIR: join(folder, "evidence-of-both"),
            WAYBILL_SECRET_KEY: "the same key for all servers on one database",
          }),
        ),
      );
      for (const outcome of outcomes) {
        expect([outcome.code, outcome.stderr]).toEqual([0, ""]);
        expect(outcome.stdout).toMatch(/^Web app: http:\/\/127\.0\.0\.1:\d+\/ \(sign in with an API key/m);
      }
      const printed = outcomes.map(({ stdout }) => stdout.includes("This is the first start"));
      expect(printed.filter(Boolean)).toHaveLength(1);
      const winner = printed.indexOf(true);
      const kept = await readFile(join(folders[winner]!, "initial-admin-key"), "utf8");
      expect(outcomes[winner]!.stdout).not.toContain(kept.trim());
      await expect(readFile(join(folders[1 - winner]!, "initial-admin-key"))).rejects.toThrow("ENOENT");
      const logLines = outcomes.flatMap(({ stdout }) =>
        stdout.split("\n").filter((line) => line.startsWith("{")),
      );
      expect(logLines.length).toBeGreaterThan(0);
      expect(logLines.join("\n")).not.toContain(kept.trim());
      const listed = await waybill(["admin", "list", "users"], { DATABASE_URL: databaseUrl(empty) });
      expect(listed.stdout.split("\n").filter((line) => line.startsWith("admin"))).toHaveLength(1);
    } finally {
      await dropDatabase(inject("postgres"), empty);
    }
  });
});
