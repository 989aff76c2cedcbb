import { execFile } from "node:child_process";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import pg from "pg";
import { describe, expect, it } from "vitest";

import { findManagedPostgres } from "../../src/db/managed/index.ts";
import { builtProgram } from "../support/program.ts";
import { initialAdminKey, startServer, withUsedDataDir } from "../support/server-process.ts";

/** What the plan of the statement that finds callers is said to be. */
async function callersPlan(dataDir: string): Promise<string | undefined> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), WAYBILL_DATA_DIR: dataDir };
  const printed = await promisify(execFile)(
    process.execPath,
    [builtProgram(), "doctor", "--plans", "--json"],
    { env },
    // It ends with the status of what it finds.
  ).catch((error: { stdout: string }) => error);
  const { findings } = JSON.parse(printed.stdout) as { findings: { name: string; detail: string }[] };
  return findings.find(({ name }) => name === "list-callers")?.detail;
}

describe("waybill doctor --plans", { timeout: 120_000 }, () => {
  it("says what pg_stat_statements has counted, where it is loaded and installed", async () => {
    await withUsedDataDir(async (dataDir) => {
      const settings = join(dataDir, "postgres", "postgresql.auto.conf");
      await appendFile(settings, "shared_preload_libraries = 'pg_stat_statements'\n");
      const server = await startServer(dataDir);
      const headers = { authorization: `Bearer ${initialAdminKey(dataDir)}` };
      expect((await fetch(`${server.url}/api/v2/organizations`, { headers })).status).toBe(200);
      // Loaded alone it cannot be read.
      expect(await callersPlan(dataDir)).toMatch(/^[\d.]+ ms, 1 row$/);

      const client = new pg.Client(await findManagedPostgres(dataDir));
      await client.connect();
      await client.query("create extension pg_stat_statements");
      await client.end();
      expect(await callersPlan(dataDir)).toMatch(
        /^[\d.]+ ms, 1 row; run (once|\d+ times) before, [\d.]+ ms on average$/,
      );
      await server.stop();
    });
  });
});
