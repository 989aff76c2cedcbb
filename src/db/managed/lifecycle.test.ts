import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, chown, mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  isRoot,
  killHard,
  postmasterPid,
  query,
  scratchDataDir,
  start,
  startInChild,
  usedDataDir,
} from "../../../test/support/managed-postgres.ts";
import { DataDirectoryInUseError, findManagedPostgres } from "./index.ts";
import { isAlive } from "./process-state.ts";

test("the first start creates a private database without network", async () => {
  const dataDir = await scratchDataDir();
  const { connection } = await start(dataDir);

  const [row] = await query<Record<string, string>>(
    connection,
    `SELECT current_database() AS database, current_user AS "user", current_setting('listen_addresses') AS listen,
       current_setting('server_encoding') AS encoding, current_setting('TimeZone') AS zone,
       current_setting('unix_socket_permissions') AS permissions, upper('ä') AS upper`,
  );
  expect(row).toEqual({
    database: "waybill",
    user: "waybill",
    listen: "",
    encoding: "UTF8",
    zone: "UTC",
    permissions: "0700",
    upper: "Ä",
  });
  expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
  expect((await stat(join(dataDir, "postgres"))).mode & 0o777).toBe(0o700);
});

test("PostgreSQL can read every file of its directory, as a base backup does", async () => {
  const everyFile = `WITH RECURSIVE files AS (
      SELECT name AS path FROM pg_ls_dir('.') AS name
      UNION ALL SELECT path || '/' || name FROM files, pg_ls_dir(path) AS name
      WHERE (pg_stat_file(path, true)).isdir)
    SELECT count(pg_read_binary_file(path, true)) > 100 AS many FROM files
    WHERE NOT coalesce((pg_stat_file(path, true)).isdir, true)`;
  const dataDir = await usedDataDir();
  // As they were made once, when the server ran as root.
  const marker = join(dataDir, "postgres", "waybill-cluster");
  if (isRoot) await chown(marker, 0, 0);
  expect((await stat(marker)).mode & 0o777).toBe(0o600);
  for (const directory of [await scratchDataDir(), dataDir]) {
    const { connection } = await start(directory);
    expect(await query(connection, everyFile)).toEqual([{ many: true }]);
  }
});

test("callers cannot open the network, and durability is on unless they turn it off", async () => {
  const dataDir = await usedDataDir();
  const { connection } = await start(dataDir, {
    settings: { listen_addresses: "127.0.0.1", port: "5999", work_mem: "5MB" },
  });

  const [row] = await query<Record<string, string>>(
    connection,
    `SELECT current_setting('listen_addresses') AS listen, current_setting('work_mem') AS work_mem, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS commit, current_setting('full_page_writes') AS pages`,
  );
  expect(row).toEqual({ listen: "", work_mem: "5MB", fsync: "on", commit: "on", pages: "on" });
});

test("stop leaves no process, and a restart keeps the data", async () => {
  const dataDir = await usedDataDir();
  const first = await start(dataDir);
  await query(first.connection, "CREATE TABLE kept AS SELECT 42 AS answer");
  const pid = await postmasterPid(dataDir);
  await Promise.all([first.stop(), first.stop()]);
  expect(await isAlive(pid)).toBe(false);

  const second = await start(dataDir);
  expect(await query(second.connection, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("findManagedPostgres tells where a running server's database is, and nothing otherwise", async () => {
  const dataDir = await usedDataDir();
  expect(await findManagedPostgres(dataDir)).toBeUndefined();
  const managed = await start(dataDir);
  const found = await findManagedPostgres(dataDir);
  expect(found).toEqual(managed.connection);
  await managed.stop();
  expect(await findManagedPostgres(dataDir)).toBeUndefined();
});

test("the PostgreSQL of a killed server is taken over and stopped at the end", async () => {
  const dataDir = await usedDataDir();
  const { child, said } = await startInChild(dataDir);
  expect(said).toBe("ready");
  const orphan = await postmasterPid(dataDir);
  await killHard(child);
  expect(await isAlive(orphan)).toBe(true);

  const managed = await start(dataDir);
  expect(await postmasterPid(dataDir)).toBe(orphan);
  expect(await query(managed.connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await managed.stop();
  expect(await findManagedPostgres(dataDir)).toBeUndefined();
  await expect(postmasterPid(dataDir)).rejects.toThrow("ENOENT");
});

test("a second server is refused with the directory and the owner", async () => {
  const dataDir = await usedDataDir();
  const { pid, said } = await startInChild(dataDir);
  expect(said).toBe("ready");
  const refused = start(dataDir);
  await expect(refused).rejects.toThrow(DataDirectoryInUseError);
  await expect(refused).rejects.toThrow(
    `The data directory ${dataDir} is in use by another Waybill server (process ${pid}).`,
  );
  // The refused one has left the owner alone.
  expect(await findManagedPostgres(dataDir)).toBeDefined();
});

test("of servers that start at the same time on an empty directory exactly one wins", async () => {
  const dataDir = await scratchDataDir();
  const child = startInChild(dataDir).then(({ said }) => said);
  const here = [start(dataDir), start(dataDir)].map((started) =>
    started.then(
      () => "ready",
      (error: unknown) => String(error),
    ),
  );
  const said = await Promise.all([child, ...here]);
  expect(said.filter((line) => line === "ready")).toHaveLength(1);
  expect(said.filter((line) => line.includes("is in use by another Waybill server (process "))).toHaveLength(
    2,
  );
  const left = await readdir(dataDir);
  expect(left.filter((name) => name.includes(".new-"))).toEqual([]);
});

test("lock files with the recycled process id of another program do not confuse", async () => {
  const dataDir = await usedDataDir();
  const first = await start(dataDir);
  const locks = [
    join(dataDir, "postgres", "postmaster.pid"),
    join(first.connection.host, ".s.PGSQL.5432.lock"),
  ];
  const contents = await Promise.all(locks.map((path) => readFile(path, "utf8")));
  const { uid, gid } = await stat(join(dataDir, "postgres"));
  await first.stop();

  const other = spawn("sleep", ["60"], isRoot ? { uid, gid, cwd: "/" } : {});
  onTestFinished(() => void other.kill());
  await once(other, "spawn");
  await Promise.all(
    locks.map((path, index) => writeFile(path, contents[index]?.replace(/^\d+/, String(other.pid)) ?? "")),
  );
  expect(await findManagedPostgres(dataDir)).toBeUndefined();
  const again = await start(dataDir);
  expect(await query(again.connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await again.stop();
  expect(other.exitCode ?? other.signalCode).toBeNull();
});

test("what a kill during the creation left behind is removed", async () => {
  const dataDir = await scratchDataDir();
  const gone = spawn("true");
  await once(gone, "exit");
  const left = join(dataDir, `postgres.new-${gone.pid}-0badcafe`);
  await mkdir(join(left, "base"), { recursive: true });
  await start(dataDir);
  await expect(access(left)).rejects.toThrow("ENOENT");
});
