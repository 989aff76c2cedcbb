import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { beforeAll, expect, it } from "vitest";

import { fillDemo } from "../support/demo.ts";
import { samplePolicy } from "../support/policies.ts";
import { builtProgram } from "../support/program.ts";
import { initialAdminKey, startServer, withUsedDataDir } from "../support/server-process.ts";
import { startCollector } from "../support/traces.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
let dist: string;
let program: string;

beforeAll(() => {
  program = builtProgram();
  dist = dirname(program);
}, 60_000);

it("is run as a command", async () => {
  const { stdout } = await execute(program, ["--version"]);
  expect(stdout.trim()).toBe("0.1.0");
});

it(
  "serves from its few files what runs in threads and what packages bring as files",
  { timeout: 120_000 },
  async () => {
    await withUsedDataDir(async (dataDir) => {
      const collector = await startCollector();
      const server = await startServer(dataDir, { WAYBILL_WEB: "0", ...collector.settings }, { program });
      const key = initialAdminKey(dataDir);
      const headers = { authorization: `Bearer ${key}` };
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`${server.url}${path}`, { headers, ...init });
      // Its reports are judged by programs and schemas in the sandbox's thread.
      await fillDemo({ url: server.url, key, dataDir, org: "built", seed: "1" }, { program });

      const form = new FormData();
      form.set("payload", JSON.stringify({ name: "long" }));
      const yaml = "# long enough for a thread\n".repeat(400) + samplePolicy;
      form.set("policy_file", new Blob([yaml]), "policy.yml");
      const policy = await ask("/api/v2/policies/built", { method: "PUT", body: form });
      expect(policy.status).toBe(201);

      const [flow] = (await (await ask("/api/v2/flows/built")).json()) as { name: string }[];
      const trails = (await (await ask(`/api/v2/trails/built/${flow?.name}`)).json()) as { name: string }[];
      const pdf = await ask(`/api/v2/trails/built/${flow?.name}/${trails[0]?.name}/audit_pdf`);
      expect(pdf.headers.get("content-type")).toBe("application/pdf");
      expect(
        Buffer.from(await pdf.arrayBuffer())
          .subarray(0, 5)
          .toString(),
      ).toBe("%PDF-");

      const docs = await ask("/api/v2/doc/swagger-ui-bundle.js");
      expect(docs.status).toBe(200);
      await collector.wait(({ name }) => name === "put_policy");
      expect(await server.stop()).toBe(0);
      await collector.stop();
    });
  },
);

it("has what makes traces in files that others do not load", async () => {
  const files = (await readdir(dist)).filter((file) => file.endsWith(".js"));
  const texts = new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(join(dist, file), "utf8")] as const)),
  );
  const loaded = new Set(["main.js"]);
  for (const file of loaded)
    for (const [, other] of texts.get(file)!.matchAll(/(?:from|import) ?"\.\/([\w.-]+\.js)"/g))
      loaded.add(other!);
  expect(loaded.size).toBeGreaterThan(1);
  // Ours, and the library's.
  for (const part of ["SpansAsProtobuf", "TraceIdRatioBasedSampler", "JsonTraceSerializer"]) {
    const having = files.filter((file) => texts.get(file)!.includes(part));
    expect(having.length, part).toBeGreaterThan(0);
    expect(having.filter((file) => loaded.has(file))).toEqual([]);
  }
});

it("is packed with what runs, and nothing else", async () => {
  const { stdout } = await execute("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root });
  const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
  const paths = packed?.files.map(({ path }) => path) ?? [];
  const shipped =
    /^(?:dist\/|share\/|migrations\/\d{4}-[\w-]+\.sql$|(?:package|openapi)\.json$|(?:README|CHANGELOG)\.md$)/;
  expect(paths.filter((path) => !shipped.test(path))).toEqual([]);
  expect(paths.filter((path) => path.endsWith(".map"))).toEqual([]);
  expect(paths).toContain("openapi.json");
  expect(paths.length).toBeLessThanOrEqual(900);
});

it("carries the licenses of the packages that went into it", async () => {
  const text = await readFile(join(dist, "LICENSES-OF-PACKAGES.txt"), "utf8");
  for (const name of ["zod", "fastify", "pg", "graphile-worker"])
    expect(text).toMatch(new RegExp(`^${name} [\\d.]+ \\(MIT\\)$`, "m"));
});
