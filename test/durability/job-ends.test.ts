import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

import pg from "pg";
import { describe, expect, it } from "vitest";

import { connectionTo, findManagedPostgres } from "../../src/db/managed/find.ts";
import { isAlive } from "../../src/db/managed/process-state.ts";
import { spawnWaybill, startServer, withUsedDataDir } from "../support/server-process.ts";
import { amount } from "../support/thorough.ts";

async function query<Row extends pg.QueryResultRow>(dataDir: string, sql: string): Promise<Row[]> {
  const connection = await findManagedPostgres(dataDir);
  const client = new pg.Client(connection ?? connectionTo(dataDir));
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function admin(dataDir: string, ...args: string[]): Promise<{ text: string; status: number | null }> {
  const child = spawnWaybill(["admin", "jobs", ...args], { WAYBILL_DATA_DIR: dataDir });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  await once(child, "close");
  return { text: chunks.join(""), status: child.exitCode };
}

/** The server with the jobs of these tests. */
const program = "test/support/server-with-jobs.ts";

/** Requires that a server answers, unless the job has killed it by then. */
async function expectServing({ url, pid }: { url: string; pid: number }): Promise<void> {
  const answer = await fetch(`${url}/api/v2/organizations`).catch(() => undefined);
  if (answer === undefined) await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  else expect(answer.status).toBe(401);
}

describe("a job that kills its server", () => {
  it(
    "is set aside after three times, while every start succeeds and other jobs are done",
    { timeout: 420_000 },
    async () => {
      await withUsedDataDir(async (dataDir) => {
        const start = () => startServer(dataDir, { WAYBILL_LOG_LEVEL: "debug" }, { program });
        const first = await start();
        await query(
          dataDir,
          "select graphile_worker.add_job('slow', '{\"ms\": 4000}', run_at => now() + interval '1 s')",
        );
        await query(
          dataDir,
          "select graphile_worker.add_job('kill', '{\"about\": \"this\"}', run_at => now() + interval '2 s')",
        );
        await expect.poll(() => isAlive(first.pid), { timeout: 30_000, interval: 100 }).toBe(false);

        let deaths = 1;
        let setAside = "";
        // Until it is set aside, and some starts more.
        for (let [round, after] = [1, 0]; round < 10 && after < amount(1, 3); round += 1) {
          if (setAside !== "") after += 1;
          // Which throws unless it becomes ready.
          const server = await start();
          await query(dataDir, "select graphile_worker.add_job('harmless')");
          await expectServing(server);
          // Until the job has run once more, if it ever will.
          const until = Date.now() + (setAside === "" ? 20_000 : 2_500);
          while (Date.now() < until && (await isAlive(server.pid)) && setAside === "") {
            await delay(100);
            if (/"a background job was set aside/.test(server.output())) setAside = server.output();
          }
          if (!(await isAlive(server.pid))) deaths += 1;
          else await server.kill();
        }
        expect(deaths).toBe(3);
        expect(setAside.match(/"level":"?(error|50)"?[^\n]*was set aside/g)).toHaveLength(1);

        const last = await start();
        expect(last.output()).not.toContain("was set aside:");
        await expect
          .poll(() => last.output(), { timeout: 20_000 })
          .toMatch(/"level":"?(warn|40)"?[^\n]*are set aside/);
        const metrics = await (await fetch(`${last.url}/metrics`)).text();
        expect(metrics).toContain('waybill_jobs_stopped{reason="set_aside"} 1');
        // Nobody else was blamed, and what the others were to do is done.
        const left =
          "select task_identifier from graphile_worker.jobs where task_identifier in ('slow', 'harmless', 'kill')";
        await expect
          .poll(() => query(dataDir, left), { timeout: 60_000 })
          .toEqual([{ task_identifier: "kill" }]);

        const { text } = await admin(dataDir, "list");
        expect(text).toMatch(/\d+ +kill +set aside +3 .*"about":"this"/);
        const id = /(\d+) +kill/.exec(text)![1]!;
        expect(await last.stop()).toBe(0);

        // With the server stopped, too.
        expect((await admin(dataDir, "list")).text).toContain("set aside");
        expect(await admin(dataDir, "retry", id)).toEqual({
          text: `Job ${id} will be tried again\n`,
          status: 0,
        });
        const retried = await start();
        await expect.poll(() => isAlive(retried.pid), { timeout: 30_000, interval: 100 }).toBe(false);
        const again = await start();
        await expect.poll(() => again.output(), { timeout: 30_000 }).toContain("was set aside");
        expect(await admin(dataDir, "drop", id)).toMatchObject({ status: 0 });
        // What the clock queued may have been under way when a server was killed: it is listed until it has run again.
        await expect
          .poll(async () => (await admin(dataDir, "list")).text, { timeout: 90_000, interval: 1_000 })
          .toContain("No background job");
        expect(await admin(dataDir, "retry", id)).toMatchObject({ status: 1 });
        expect(await again.stop()).toBe(0);
      });
    },
  );
});
