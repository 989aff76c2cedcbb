import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import {
  cleanEvidence,
  findOrphans,
  removeOrphan,
  verifyContents,
} from "../../src/modules/process/evidence/verify-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { bundled } from "../support/program.ts";
import { withDatabase } from "../support/databases.ts";
import { get } from "../support/evidence.ts";
import { amount } from "../support/thorough.ts";

const cycles = amount(2, 6);
let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

/** Lets a process store evidence until it has acknowledged this many, and kills it in the middle of the next ones. */
async function writeAndKill(acknowledgements: number): Promise<string[]> {
  const { rows } = await app.deps.db.pool.query<{ name: string }>("select current_database() as name");
  const connection = withDatabase(inject("postgres"), rows[0]!.name);
  const program = bundled({ file: "test/support/evidence-child.ts" });
  const child = spawn(
    process.execPath,
    [program, JSON.stringify(connection), app.deps.config.evidence.dir, org.id],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = once(child, "close");
  const acknowledged: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    acknowledged.push(line);
    if (acknowledged.length === acknowledgements) child.kill("SIGKILL");
  }
  await ended;
  expect(child.signalCode).toBe("SIGKILL");
  return acknowledged.filter((line) => line.length === 64);
}

async function referred(): Promise<string[]> {
  const rows = await app.deps.db.all(query({ sha256: text })`
    select sha256 from evidence where org_id = ${org.id}::uuid`);
  return rows.map((row) => row.sha256);
}

describe("a server killed during uploads", () => {
  it("loses nothing acknowledged and leaves no row without its file", { timeout: 120_000 }, async () => {
    const acknowledged: string[] = [];
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      acknowledged.push(...(await writeAndKill(randomInt(3, 25))));
      const rows = new Set(await referred());
      expect(acknowledged.filter((sha256) => !rows.has(sha256))).toEqual([]);
      // Reading compares every byte with its digest.
      for await (const { finding } of verifyContents(app.deps)) expect(finding).toBeUndefined();
    }
    expect(acknowledged.length).toBeGreaterThan(cycles);
    for (const sha256 of acknowledged.slice(-5))
      expect((await get(app.deps.evidence, sha256)).length).toBeGreaterThan(0);

    // What the kills left goes, and nothing else does.
    await app.deps.evidence.removeAbandoned(0);
    for await (const orphan of findOrphans(app.deps, 0)) await removeOrphan(app.deps, orphan.sha256);
    await cleanEvidence(app.deps, 60_000);
    const listed: string[] = [];
    for await (const { sha256 } of app.deps.evidence.list()) listed.push(sha256);
    expect(listed).toEqual((await referred()).sort());
    expect(await app.deps.evidence.removeAbandoned(0)).toBe(0);
  });
});
