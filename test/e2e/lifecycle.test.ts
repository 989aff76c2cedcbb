import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { describe, expect, inject, it } from "vitest";

import { isAlive } from "../../src/db/managed/process-state.ts";
import { createDatabase, dropDatabase, urlOf } from "../support/databases.ts";
import {
  freePort,
  postmasterPid,
  spawnWaybill,
  startServer,
  withDataDir,
  withUsedDataDir,
} from "../support/server-process.ts";
import { uniqueName } from "../support/unique-name.ts";

/** Waits for a process to end and answers what it said. */
async function outcome(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  await once(child, "close");
  return { code: child.exitCode, output };
}

// Each test starts real servers, which takes its time on a busy machine.
describe("starting and stopping", { timeout: 90_000 }, () => {
  it("stops PostgreSQL with the server on SIGTERM, and starts again on the same data", async () => {
    await withDataDir(async (dataDir) => {
      const first = await startServer(dataDir);
      const postgres = postmasterPid(dataDir)!;
      expect(await isAlive(postgres)).toBe(true);
      expect(await first.stop()).toBe(0);
      expect(await isAlive(postgres)).toBe(false);
      const second = await startServer(dataDir);
      expect(await second.stop()).toBe(0);
    });
  });

  it("takes over the PostgreSQL of a killed server", async () => {
    await withUsedDataDir(async (dataDir) => {
      const first = await startServer(dataDir);
      await first.kill();
      const postgres = postmasterPid(dataDir)!;
      expect(await isAlive(postgres)).toBe(true);
      const second = await startServer(dataDir);
      expect(postmasterPid(dataDir)).toBe(postgres);
      await second.stop();
      expect(await isAlive(postgres)).toBe(false);
    });
  });

  it("refuses a second server on the same data and says who has it", async () => {
    await withUsedDataDir(async (dataDir) => {
      const first = await startServer(dataDir);
      const second = spawnWaybill(["serve"], { PORT: String(await freePort()), WAYBILL_DATA_DIR: dataDir });
      const { code, output } = await outcome(second);
      expect(code).toBe(1);
      expect(output).toContain(dataDir);
      expect(output).toContain(String(first.pid));
      expect(output).not.toContain("    at ");
      expect(await first.stop()).toBe(0);
    });
  });

  it("finishes a request that is under way when asked to stop", async () => {
    await withUsedDataDir(async (dataDir) => {
      const server = await startServer(dataDir);
      const { port } = new URL(server.url);
      const socket = connect(Number(port), "127.0.0.1");
      let answer = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        answer += chunk;
      });
      socket.write("GET /live HTTP/1.1\r\nHost: x\r\n");
      await delay(100);
      const stopped = server.stop();
      await delay(100);
      socket.write("Connection: close\r\n\r\n");
      await once(socket, "close");
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(await stopped).toBe(0);
    });
  });

  it("says every mistake in the configuration, one line each", async () => {
    const settings = {
      PORT: "eight",
      WAYBILL_PUBLIC_URL: "ftp://x",
      DATABASE_URL: "mysql://x",
      WAYBILL_LOG_LEVEL: "loud",
    };
    const { code, output } = await outcome(spawnWaybill(["serve"], settings));
    expect(code).toBe(1);
    const lines = output.trim().split("\n");
    expect(lines).toHaveLength(Object.keys(settings).length);
    for (const name of Object.keys(settings)) expect(output).toContain(`Configuration: ${name} `);
  });

  it("says that the port is in use, and leaves no PostgreSQL behind", async () => {
    await withUsedDataDir(async (dataDir) => {
      const first = await startServer(dataDir);
      const { port } = new URL(first.url);
      await withUsedDataDir(async (otherDir) => {
        const { code, output } = await outcome(
          spawnWaybill(["serve"], { PORT: port, WAYBILL_DATA_DIR: otherDir }),
        );
        expect(code).toBe(1);
        expect(output).toContain(`Port ${port} on 127.0.0.1 is in use`);
        expect(postmasterPid(otherDir)).toBeUndefined();
      });
      await first.stop();
    });
  });

  it("uses an external PostgreSQL and leaves it running", async () => {
    const postgres = inject("postgres");
    const database = uniqueName("waybill_external").replaceAll("-", "_");
    await createDatabase(postgres, database);
    try {
      await withDataDir(async (dataDir) => {
        const environment = { DATABASE_URL: urlOf(postgres, database) };
        const servers = [await startServer(dataDir, environment), await startServer(dataDir, environment)];
        for (const server of servers) expect((await fetch(`${server.url}/ready`)).status).toBe(200);
        for (const server of servers) expect(await server.stop()).toBe(0);
        expect(postmasterPid(dataDir)).toBeUndefined();
      });
    } finally {
      await dropDatabase(postgres, database);
    }
  });

  it("says that an external PostgreSQL does not answer", async () => {
    await withDataDir(async (dataDir) => {
      const DATABASE_URL = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
      const { code, output } = await outcome(
        spawnWaybill(["serve"], { DATABASE_URL, WAYBILL_DATA_DIR: dataDir }),
      );
      expect(code).toBe(1);
      expect(output).toContain("The database at DATABASE_URL does not answer");
    });
  });
});
