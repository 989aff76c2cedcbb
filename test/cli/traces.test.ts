import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { bundled } from "../support/program.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

/** Packages that make traces. Of `api` there are types and names in it only, and the client for metrics loads it in any case. */
const packages = "core|otlp-transformer|resources|sdk-trace";

/** Runs a module that has the program's sources. @returns what it printed. */
async function run(script: string, environment: Record<string, string> = {}): Promise<string> {
  const { stdout } = await execute(process.execPath, [bundled({ text: script })], {
    cwd: root,
    env: { ...process.env, ...environment },
  });
  return stdout.trim();
}

const listLoaded = `
  import { createRequire } from "node:module";
  import { startTracing } from "./src/app.ts";
  import { readConfig } from "./src/config.ts";
  import { silentLog } from "./src/lib/log.ts";
  const tracing = await startTracing(readConfig(), silentLog);
  const files = Object.keys(createRequire(import.meta.url).cache);
  const found = files.flatMap((file) => /node_modules\\/@opentelemetry\\/(${packages})\\//.exec(file)?.[1] ?? []);
  console.log(JSON.stringify({ files: files.length, found: [...new Set(found)].sort(), on: tracing !== undefined }));
  await tracing?.stop(0);
`;

describe("the packages of OpenTelemetry", { timeout: 60_000 }, () => {
  it("are not loaded while traces are off", async () => {
    const { files, found, on } = JSON.parse(await run(listLoaded, { OTEL_SDK_DISABLED: "true" }));
    expect({ found, on }).toEqual({ found: [], on: false });
    // Others are seen.
    expect(files).toBeGreaterThan(100);
  });

  it("are loaded when an endpoint is set", async () => {
    const { found, on } = JSON.parse(
      await run(listLoaded, { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" }),
    );
    expect({ found, on }).toEqual({ found: packages.split("|"), on: true });
  });

  it.each(["refuses", "hangs"])(
    "let the process end soon after the last export, when the collector %s",
    async (how) => {
      const printed = await run(
        `
        import { createServer } from "node:http";
        import { startTracing } from "./src/app.ts";
        import { readConfig } from "./src/config.ts";
        import { silentLog } from "./src/lib/log.ts";
        const collector = createServer((request) => { request.on("error", () => {}); });
        await new Promise((resolve) => collector.listen(0, "127.0.0.1", resolve));
        const url = "http://127.0.0.1:" + collector.address().port;
        if (process.env.HOW === "refuses") collector.close();
        const config = readConfig({
          OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER: "always_on", OTEL_BSP_SCHEDULE_DELAY: "1",
        });
        const tracing = await startTracing(config, silentLog);
        tracing.begin("one", {}).end();
        await new Promise((resolve) => setTimeout(resolve, 200));
        tracing.begin("two", {}).end();
        await tracing.stop(300);
        const stopped = performance.now();
        collector.close();
        process.on("exit", () => console.log(performance.now() - stopped));
      `,
        { HOW: how },
      );
      expect(Number(printed)).toBeLessThan(2_000);
    },
  );

  it.each([
    ["trusted", 1, 0],
    ["unknown", 0, 1],
  ])("export by TLS, when the collector's certificate is %s", async (whose, received, dropped) => {
    const printed = await run(
      `
      import { readFileSync } from "node:fs";
      import { createServer } from "node:https";
      import { startTracing } from "./src/app.ts";
      import { readConfig } from "./src/config.ts";
      import { silentLog } from "./src/lib/log.ts";
      const read = (what) => readFileSync("test/support/fixtures/test-only-${whose}." + what + ".pem");
      let received = 0;
      const collector = createServer({ cert: read("cert"), key: read("key") }, (request, response) => {
        request.resume().on("end", () => { received += 1; response.end(); });
      });
      await new Promise((resolve) => collector.listen(0, "localhost", resolve));
      const config = readConfig({
        OTEL_EXPORTER_OTLP_ENDPOINT: "https://localhost:" + collector.address().port, OTEL_TRACES_SAMPLER: "always_on",
      });
      const tracing = await startTracing(config, silentLog);
      tracing.begin("one", {}).end();
      await tracing.stop(10_000);
      collector.close();
      console.log(JSON.stringify([received, tracing.dropped]));
    `,
      { NODE_EXTRA_CA_CERTS: join(root, "test", "support", "fixtures", "test-only-trusted.cert.pem") },
    );
    expect(JSON.parse(printed)).toEqual([received, dropped]);
  });

  it("that are missing keep a server from starting, with a sentence", async () => {
    const hook = `export async function resolve(name, context, next) {
      if (name === "@opentelemetry/sdk-trace")
        throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(name, context);
    }`;
    const register = `import { register } from "node:module";
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
    const started = execute(
      process.execPath,
      [
        "--import",
        `data:text/javascript,${encodeURIComponent(register)}`,
        bundled({ file: "src/main.ts" }, true),
        "serve",
      ],
      { cwd: root, env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" } },
    );
    await expect(started).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Traces are switched on .*packages of OpenTelemetry are not installed.*\n$/,
      ),
    });
  });
});
