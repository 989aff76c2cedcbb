import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import {
  query,
  scratchDirectory,
  start,
  startInChild,
  killHard,
  usedDataDir,
} from "../../../test/support/managed-postgres.ts";
import { mountSmallDisk } from "../../../test/support/small-disk.ts";
import { findWalArchive, switchArchivingOff, switchArchivingOn } from "./index.ts";

const run = promisify(execFile);
const scripts = join(import.meta.dirname, "../../../share/wal");
const script = join(scripts, "archive.sh");

/** Runs a script as PostgreSQL does. @returns what it exits with, and says. */
async function runScript(
  name: "archive" | "restore",
  args: string[],
  folder: string,
): Promise<{ status: number; said: string }> {
  const env = { PATH: "/usr/bin:/bin", WAYBILL_WAL_FOLDER: folder, WAYBILL_WAL_OFF: join(folder, "off") };
  return run("/bin/sh", [join(scripts, `${name}.sh`), ...args], { env }).then(
    () => ({ status: 0, said: "" }),
    (error: { code: number; stderr: string }) => ({ status: error.code, said: error.stderr }),
  );
}

test("the scripts archive a file once, never put another in its place, and bring it back", async () => {
  const folder = join(await scratchDirectory(), "an 'odd' $name; true");
  await mkdir(folder);
  const name = "000000010000000000000001";
  const path = join(folder, "segment");
  const bytes = randomBytes(300_000);
  await writeFile(path, bytes);
  // What an interrupted run left.
  await writeFile(join(folder, `.${name}.1.partial`), "half");
  for (let twice = 0; twice < 2; twice += 1)
    expect(await runScript("archive", [path, name], folder)).toEqual({ status: 0, said: "" });
  expect(gunzipSync(await readFile(join(folder, `${name}.gz`)))).toEqual(bytes);
  expect((await readdir(folder)).sort()).toEqual([`${name}.gz`, "segment"]);
  const back = join(folder, "back");
  expect((await runScript("restore", [name, back], folder)).status).toBe(0);
  expect(await readFile(back)).toEqual(bytes);
  expect((await runScript("restore", ["000000010000000000000002", back], folder)).status).toBe(1);

  await writeFile(path, randomBytes(300_000));
  const other = await runScript("archive", [path, name], folder);
  expect(other).toMatchObject({ status: 1, said: expect.stringContaining("is another file") as string });
  // What a disk made of an archived file is not taken for it.
  await writeFile(join(folder, `${name}.gz`), "damaged");
  expect((await runScript("archive", [path, name], folder)).status).toBe(1);
  for (const wrong of ["../escaped", "a b", "$(touch x)", ""])
    expect((await runScript("archive", [path, wrong], folder)).status).toBe(1);
  await writeFile(join(folder, "off"), "");
  expect((await runScript("archive", [path, "000000010000000000000009"], folder)).status).toBe(0);
  expect(existsSync(join(folder, "000000010000000000000009.gz"))).toBe(false);
});

test("a full disk of the archive is said, and leaves nothing that looks archived", async ({ skip }) => {
  const disk = mountSmallDisk(2) ?? skip("file systems cannot be mounted here");
  onTestFinished(disk.remove);
  const name = "000000010000000000000001";
  const path = join(await scratchDirectory(), "segment");
  await writeFile(path, randomBytes(300_000));
  // With room for a part of it, and for nothing at all.
  for (const room of [100_000, 0]) {
    disk.fill(room);
    const { status, said } = await runScript("archive", [path, name], disk.path);
    expect(status).not.toBe(0);
    expect(said).toContain("No space left on device");
    expect(await readdir(disk.path)).toEqual(["filler"]);
    disk.clear();
  }
  expect(await runScript("archive", [path, name], disk.path)).toEqual({ status: 0, said: "" });
});

test("a cluster archives its log from its next start on, in a life that ends when it does not", async () => {
  const dataDir = await usedDataDir();
  const folder = join(await scratchDirectory(), "archive 'of' $it");
  const walArchive = { folder, script };
  const first = await start(dataDir, { walArchive });
  const archive = (await findWalArchive(dataDir))!;
  await query(first.connection, "select pg_switch_wal() from pg_create_restore_point('here')");
  await expect.poll(() => readdir(archive.wal), { timeout: 20_000 }).toHaveLength(1);
  await query(first.connection, "select pg_create_restore_point('later')");
  await first.stop();
  // What was written last is archived when PostgreSQL stops.
  const names = (await readdir(archive.wal)).sort();
  expect(names.length).toBeGreaterThan(1);
  for (const name of names)
    expect(gunzipSync(await readFile(join(archive.wal, name))).length).toBe(16 * 1024 * 1024);

  await (await start(dataDir, { walArchive })).stop();
  expect((await findWalArchive(dataDir))?.life).toBe(archive.life);
  await (await start(dataDir)).stop();
  expect(await findWalArchive(dataDir)).toBeUndefined();
  await (await start(dataDir, { walArchive })).stop();
  expect((await findWalArchive(dataDir))?.life).not.toBe(archive.life);
});

test(
  "what is written soon after a start is archived as soon as what is written later",
  { timeout: 90_000 },
  async () => {
    const dataDir = await usedDataDir();
    const walArchive = { folder: join(await scratchDirectory(), "archive"), script };
    await (await start(dataDir, { walArchive })).stop();
    const archive = (await findWalArchive(dataDir))!;
    const before = (await readdir(archive.wal)).length;
    const settings = { fsync: "off", archive_timeout: "2s" };
    const { connection } = await start(dataDir, { walArchive, settings });
    // One record alone is where the file began, for PostgreSQL.
    await query(
      connection,
      "select pg_create_restore_point(name) from unnest(array['here', 'there']) as name",
    );
    // PostgreSQL by itself sleeps until its next checkpoint, for five minutes.
    await expect
      .poll(async () => (await readdir(archive.wal)).length, { timeout: 20_000 })
      .toBeGreaterThan(before);
  },
);

test("a PostgreSQL that a killed server left is restarted when it archives elsewhere", async () => {
  const dataDir = await usedDataDir();
  const { child } = await startInChild(dataDir);
  await killHard(child);
  const folder = join(await scratchDirectory(), "archive");
  const { connection } = await start(dataDir, { walArchive: { folder, script } });
  expect(await query(connection, "select current_setting('archive_mode') as mode")).toEqual([{ mode: "on" }]);
});

test("an archive that is away keeps nothing from starting, and PostgreSQL keeps its log until it is back", async () => {
  const dataDir = await usedDataDir();
  const folder = join(await scratchDirectory(), "archive");
  const walArchive = { folder, script };
  await (await start(dataDir, { walArchive })).stop();
  const archive = (await findWalArchive(dataDir))!;
  const before = await readdir(archive.wal);
  await rename(folder, `${folder}-away`);
  const { connection } = await start(dataDir, { walArchive });
  const waiting = (): Promise<object[]> =>
    query(connection, "select 1 from pg_ls_archive_statusdir() where name like '%.ready'");
  const write = (): Promise<object[]> =>
    query(connection, "select pg_switch_wal() from pg_create_restore_point('here')");
  for (let count = 0; count < 3; count += 1) await write();
  expect((await waiting()).length).toBeGreaterThanOrEqual(3);
  expect(existsSync(folder)).toBe(false);
  await rename(`${folder}-away`, folder);
  await write();
  await expect.poll(async () => (await waiting()).length, { timeout: 90_000 }).toBe(0);
  expect((await readdir(archive.wal)).length).toBe(before.length + 4);

  await switchArchivingOff(archive);
  await write();
  await expect.poll(async () => (await waiting()).length, { timeout: 90_000 }).toBe(0);
  expect((await readdir(archive.wal)).length).toBe(before.length + 4);
  await switchArchivingOn(archive);
  await rm(folder, { recursive: true });
}, 240_000);
