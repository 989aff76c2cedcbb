import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { folderOnDisk } from "../support/memory-folder.ts";
import { copySource, makePackages, setVersion } from "../support/packages.ts";
import { RunningDebian } from "../support/running-debian.ts";

// A Debian with systemd in it: debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm DEBIAN
const debian = process.env["WAYBILL_TEST_DEBIAN"];
const canRun =
  debian !== undefined && process.getuid?.() === 0 && spawnSync("nsenter", ["--version"]).status === 0;
const architecture = process.arch === "x64" ? "amd64" : "arm64";
const port = 8001;

describe.skipIf(!canRun)("the .deb under systemd (needs root and a Debian in WAYBILL_TEST_DEBIAN)", () => {
  let folder: string;
  let machine: RunningDebian;

  beforeAll(async () => {
    folder = mkdtempSync(join(folderOnDisk(), "waybill-debian-packages-"));
    const source = join(folder, "source");
    await copySource(source);
    machine = await RunningDebian.start(debian!);
    for (const version of ["0.1.0", "0.1.1", "0.1.2"]) {
      setVersion(source, version);
      await makePackages(source, folder, ["deb"]);
      const file = `waybill_${version}_${architecture}.deb`;
      copyFileSync(join(folder, file), join(machine.root, file));
    }
  }, 600_000);
  afterAll(async () => {
    await machine?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a line that has to succeed. @returns what it printed. */
  async function run(line: string): Promise<string> {
    const { status, text: printed } = await machine.run(line);
    expect([line, status, printed]).toEqual([line, 0, printed]);
    return printed.trim();
  }
  const install = (version: string) => machine.run(`dpkg --install /waybill_${version}_${architecture}.deb`);
  const stateOf = async (property: string): Promise<string> =>
    run(`systemctl show --value --property=${property} waybill.service`);
  const enabled = async (): Promise<string[]> =>
    (await machine.run("systemctl is-enabled waybill.socket waybill.service")).text.trim().split("\n");

  /** Waits until the server is ready. @returns its process. */
  async function ready(): Promise<string> {
    await expect.poll(() => stateOf("ActiveState"), { timeout: 60_000 }).toBe("active");
    await run("PORT=8001 waybill health");
    return stateOf("MainPID");
  }

  /** Asks 200 times a second until `work` has ended. @returns how many answers there were of each kind. */
  async function under(work: () => Promise<void>): Promise<object> {
    const key = readFileSync(join(machine.root, "var/lib/waybill/initial-admin-key"), "utf8").trim();
    const program = join(import.meta.dirname, "../support/steady-load-child.ts");
    const command = [process.execPath, "--import", "tsx", program, String(port), key, "200"];
    const load = machine.spawnInNetwork(...command);
    const printed = text(load.stdout!);
    try {
      await work();
    } finally {
      load.stdin!.end();
    }
    return JSON.parse(await printed) as object;
  }

  /** Runs a statement in the database of the machine. */
  async function query(statement: string): Promise<void> {
    const host = join(machine.root, "var/lib/waybill/run");
    const client = new pg.Client({ host, port: 5432, user: "waybill", database: "waybill" });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  }

  it("is started when it is installed, and at every boot", { timeout: 120_000 }, async () => {
    expect(await install("0.1.0")).toMatchObject({ status: 0 });
    await ready();
    expect(await enabled()).toEqual(["disabled", "enabled"]);
    const security = await run("systemd-analyze security --no-pager waybill.service | tail -n 1");
    expect(Number(/: ([\d.]+)/.exec(security)?.[1])).toBeLessThanOrEqual(2);
  });

  it("reads its settings again, and runs commands as its user", { timeout: 120_000 }, async () => {
    await run("echo WAYBILL_RATE_LIMIT_PER_KEY=0 >> /etc/waybill/waybill.env; systemctl reload waybill");
    const log = (): Promise<string> => run("journalctl --no-pager --output=cat --unit=waybill");
    await expect.poll(log, { timeout: 20_000 }).toMatch(/"WAYBILL_RATE_LIMIT_PER_KEY"/);
    const documented = readFileSync(join(machine.root, "opt/waybill/share/doc/packages.md"), "utf8");
    const [, command] = /`(systemd-run [^`]+)`/.exec(documented) ?? [];
    // There is no terminal here.
    expect(await run(command!.replace("--pty", "--pipe --wait --quiet"))).toContain("http://");
  });

  it("loses no request in an upgrade where the socket is kept", { timeout: 240_000 }, async () => {
    await run("systemctl stop waybill; systemctl enable --now waybill.socket; systemctl start waybill");
    const before = await ready();
    const asked = await under(async () => {
      expect(await install("0.1.1")).toMatchObject({ status: 0 });
      await expect
        .poll(() => stateOf("MainPID"), { timeout: 60_000 })
        .not.toMatch(new RegExp(`^(?:0|${before})$`));
      await ready();
    });
    console.log(asked);
    expect(asked).toMatchObject({
      lost: [],
      statuses: { "200": expect.any(Number), "201": expect.any(Number) },
    });
    expect(Object.keys((asked as { statuses: object }).statuses)).toHaveLength(2);
  });

  it(
    "is not restarted by an upgrade that would fail, until that is mended",
    { timeout: 240_000 },
    async () => {
      const before = await ready();
      await query(
        "insert into migrations (name, checksum, program, contracts) values ('9999-ahead.sql', '', '0.9.0', true)",
      );
      const refused = await install("0.1.2");
      expect(refused).toMatchObject({ status: 1, text: expect.stringContaining("not restarted") });
      expect(await ready()).toBe(before);
      await query("delete from migrations where name = '9999-ahead.sql'");
      await run("dpkg --configure waybill");
      await expect
        .poll(() => stateOf("MainPID"), { timeout: 60_000 })
        .not.toMatch(new RegExp(`^(?:0|${before})$`));
      await ready();
    },
  );

  it("comes back when it is killed", { timeout: 120_000 }, async () => {
    const before = await ready();
    await run(`kill -9 ${before}`);
    await expect
      .poll(() => stateOf("MainPID"), { timeout: 60_000 })
      .not.toMatch(new RegExp(`^(?:0|${before})$`));
    await ready();
  });

  it("stays stopped in an upgrade when it was", { timeout: 120_000 }, async () => {
    await run("systemctl stop waybill.socket waybill.service");
    expect(await install("0.1.1")).toMatchObject({ status: 0 });
    expect(await stateOf("ActiveState")).toBe("inactive");
    await run("systemctl start waybill.socket waybill.service");
    await ready();
  });

  it(
    "keeps settings and data when it is removed, and is as it was when installed again",
    { timeout: 240_000 },
    async () => {
      const key = readFileSync(join(machine.root, "var/lib/waybill/initial-admin-key"), "utf8");
      await run("dpkg --remove waybill");
      expect(await run("systemctl list-units --no-legend 'waybill*'")).toBe("");
      expect(existsSync(join(machine.root, "etc/waybill/waybill.env"))).toBe(true);
      expect(await install("0.1.1")).toMatchObject({ status: 0 });
      await ready();
      expect(await enabled()).toEqual(["enabled", "enabled"]);
      expect(await run("systemctl is-active waybill.socket")).toBe("active");
      expect(readFileSync(join(machine.root, "var/lib/waybill/initial-admin-key"), "utf8")).toBe(key);
      await run("dpkg --purge waybill");
      expect(existsSync(join(machine.root, "etc/waybill"))).toBe(false);
      expect(existsSync(join(machine.root, "var/lib/waybill/postgres/PG_VERSION"))).toBe(true);
      expect(await run("systemctl list-unit-files --no-legend 'waybill*' || true")).toBe("");
      expect(await install("0.1.1")).toMatchObject({ status: 0 });
      await ready();
      expect(await enabled()).toEqual(["disabled", "enabled"]);
    },
  );
});
