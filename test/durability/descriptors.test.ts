import { spawnSync } from "node:child_process";
import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { RawConnection } from "../support/raw-connection.ts";
import {
  initialAdminKey,
  type ServerProcess,
  startServer,
  withUsedDataDir,
} from "../support/server-process.ts";

/** Whether the limits of another process can be changed. */
const possible =
  process.platform === "linux" && spawnSync("prlimit", ["--version"], { stdio: "ignore" }).status === 0;

/** So many leave nothing to be opened: descriptors of lower numbers are all in use. */
const none = 3;

function limitFiles(pid: number, soft: number): void {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:20000`], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
}

interface Told {
  status: number;
  text: string;
  retryAfter: string | undefined;
}

/** Asks over connections that stay open: with no descriptor left there are no new ones. */
class KeptClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #server: ServerProcess;
  readonly #key: string;

  constructor(server: ServerProcess, dataDir: string) {
    this.#server = server;
    this.#key = initialAdminKey(dataDir);
  }

  ask(method: string, path: string, body?: { type: string; bytes: Buffer }): Promise<Told> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { "content-type": body.type, "content-length": body.bytes.length }),
      };
      const sent = request(
        `${this.#server.url}${path}`,
        { method, headers, agent: this.#agent },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          const retryAfter = response.headers["retry-after"];
          response.on("end", () => resolve({ status: response.statusCode ?? 0, text, retryAfter }));
        },
      );
      sent.on("error", reject).end(body?.bytes);
    });
  }

  /** Uploads a file, which needs a descriptor. */
  upload(name: string): Promise<Told> {
    const data = JSON.stringify({ attestation_name: name, is_compliant: true, user_data: {} });
    const parts = [
      `--b\r\nContent-Disposition: form-data; name="data_json"\r\n\r\n${data}\r\n`,
      `--b\r\nContent-Disposition: form-data; name="attachment_file"; filename="${name}.bin"\r\n\r\n${name}\r\n--b--\r\n`,
    ];
    const body = { type: "multipart/form-data; boundary=b", bytes: Buffer.from(parts.join("")) };
    return this.ask("POST", "/api/v2/attestations/main/web/trail/run/generic", body);
  }

  /** Tries a program, which needs a thread. */
  defineType(name: string): Promise<Told> {
    const data = JSON.stringify({
      name,
      description: "",
      evaluator: { content_type: "jq", rules: [".a == 1"] },
    });
    const bytes = Buffer.from(
      `--b\r\nContent-Disposition: form-data; name="data_json"\r\n\r\n${data}\r\n--b--\r\n`,
    );
    const body = { type: "multipart/form-data; boundary=b", bytes };
    return this.ask("POST", "/api/v2/custom-attestation-types/main", body);
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Tries until something is answered as it should be. */
async function eventually(status: number, ask: () => Promise<Told>): Promise<Told> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const told = await ask().catch((error: Error) => ({
      status: 0,
      text: error.message,
      retryAfter: undefined,
    }));
    if (told.status === status) return told;
    if (Date.now() > deadline) throw new Error(`never ${status}: ${JSON.stringify(told)}`);
    await delay(200);
  }
}

describe.runIf(possible)("a server with no descriptor left", { timeout: 180_000 }, () => {
  it("answers 503, goes on, and recovers when there are some", async () => {
    await withUsedDataDir(async (dataDir) => {
      const server = await startServer(dataDir);
      const client = new KeptClient(server, dataDir);
      expect((await client.upload("before")).status).toBe(201);
      limitFiles(server.pid, none);
      const refused = await client.upload("during");
      expect([refused.status, refused.retryAfter, JSON.parse(refused.text)]).toEqual([
        503,
        "2",
        { message: "The server has too many files and connections open, try again later" },
      ]);
      // Many at once need more connections to the database, a program needs a thread; new callers are not even accepted.
      const others = Array.from({ length: 20 }, () => new RawConnection(Number(new URL(server.url).port)));
      const types = await Promise.all(["a", "b"].map((name) => client.defineType(name)));
      for (const told of types) expect([201, 503]).toContain(told.status);
      expect((await client.ask("GET", "/live")).status).toBe(200);
      const reads = await Promise.all(
        Array.from({ length: 30 }, () => client.ask("GET", "/api/v2/environments/main")),
      );
      for (const told of reads) expect([200, 503]).toContain(told.status);
      const ready = await client.ask("GET", "/ready");
      expect([200, 503]).toContain(ready.status);
      for (const other of others) other.destroy();
      limitFiles(server.pid, 20_000);
      await eventually(201, () => client.upload("after"));
      await eventually(201, () => client.defineType("after"));
      await eventually(200, () => client.ask("GET", "/ready"));
      client.close();
      expect(await server.stop()).toBe(0);
      const output = server.output();
      expect(output).not.toContain('"status":500');
      expect(output).not.toContain("request failed");
    });
  });

  it("keeps some from callers, whose connections too many are told why", async () => {
    await withUsedDataDir(async (dataDir) => {
      // As a low `ulimit -n` has it: there is room for 192 connections beside what the server itself needs.
      const server = await startServer(dataDir, {}, { openFiles: 512 });
      const client = new KeptClient(server, dataDir);
      expect((await client.upload("before")).status).toBe(201);
      const port = Number(new URL(server.url).port);
      const all = Array.from(
        { length: 600 },
        () => new RawConnection(port, "GET /live HTTP/1.1\r\nHost: x\r\n\r\n"),
      );
      await eventually(200, async () => {
        const told = all.filter(({ received }) => received.includes("503 Service Unavailable")).length;
        return { status: told > 0 ? 200 : 0, text: String(told), retryAfter: undefined };
      });
      expect((await client.upload("during")).status).toBe(201);
      expect((await client.defineType("during")).status).toBe(201);
      for (const connection of all) connection.destroy();
      await eventually(200, () => new KeptClient(server, dataDir).ask("GET", "/live"));
      client.close();
      expect(await server.stop()).toBe(0);
      expect(server.output()).not.toContain('"status":5');
    });
  });
});
