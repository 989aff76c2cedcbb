import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, it } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
let folder: string;

/** The package as it is installed: compiled, beside its dependencies. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-built-"));
  await cp(join(root, "package.json"), join(folder, "package.json"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const options = [
    "-p",
    join(root, "tsconfig.build.json"),
    "--incremental",
    "false",
    "--tsBuildInfoFile",
    "null",
  ];
  await run(process.execPath, [compiler, ...options, "--outDir", join(folder, "dist")]);
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it(
  "runs programs and reads YAML in threads from the compiled files, and does not keep the process up",
  { timeout: 90_000 },
  async () => {
    const script = `
    import { createSandbox } from "./dist/src/lib/sandbox/sandbox.js";
    import { yamlReader } from "./dist/src/lib/yaml-aside.js";
    const result = await createSandbox().run("a", {
      input: '{"a":[1,2]}',
      steps: [{ kind: "validate", schema: '{"required":["a"]}' }, { kind: "run", program: ".a | add, $ENV" }],
    });
    const yaml = await yamlReader.read("a", "# long enough for a thread\\n".repeat(400) + "[1, 2]", {
      maxLength: 20000, maxValues: 10,
    });
    console.log(JSON.stringify({ result, yaml }));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
      cwd: folder,
      timeout: 60_000,
    });
    expect(JSON.parse(stdout)).toEqual({
      result: { results: [{ problems: [] }, { problems: [] }], output: "3\n{}\n" },
      yaml: [1, 2],
    });
  },
);
