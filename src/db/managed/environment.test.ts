import { chmod, constants, cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  isRoot,
  query,
  scratchDataDir,
  scratchDirectory,
  start,
  usedDataDir,
} from "../../../test/support/managed-postgres.ts";
import { silentLog } from "../../lib/log.ts";
import { prepareEngine, removeStaleEngines } from "./engine-copy.ts";
import { linksOf, locateEngine } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { chooseIdentity } from "./identity.ts";
import { findManagedPostgres, ManagedPostgresError } from "./index.ts";
import { prepareDataDir } from "./layout.ts";

test("a data directory too deep for a socket address gets a short private one", async () => {
  const dataDir = await scratchDataDir("deep ".repeat(12).trim(), "deeper".repeat(10));
  const first = await start(dataDir);
  expect(first.connection.host.startsWith(dataDir)).toBe(false);
  expect((await stat(first.connection.host)).mode & 0o777).toBe(0o700);
  expect(await findManagedPostgres(dataDir)).toEqual(first.connection);
  await first.stop();
  const second = await start(dataDir);
  expect(second.connection).toEqual(first.connection);
  await second.stop();
  await rm(first.connection.host, { recursive: true });
});

test("a path with blanks, commas and quotes works", async () => {
  const dataDir = await scratchDataDir(`it's a "path", really`);
  const { connection } = await start(dataDir);
  expect(await query(connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

/** The engine as npm leaves it when it skips install scripts: no links, nothing executable. */
async function bareEngine(directory: string): Promise<Engine> {
  const { native, version } = await locateEngine();
  const bare = join(directory, "native");
  await cp(native, bare, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (path) => !path.endsWith(".a"),
  });
  const links = await linksOf(bare);
  await Promise.all(links.map((link) => rm(join(bare, link.path), { force: true })));
  await Promise.all(["initdb", "postgres"].map((name) => chmod(join(bare, "bin", name), 0o644)));
  return { native: bare, version };
}

test("an engine without links and permissions is repaired in place", async () => {
  const dataDir = await scratchDataDir();
  const source = await bareEngine(await scratchDirectory());
  const identity = await chooseIdentity(dataDir);
  const layout = await prepareDataDir(dataDir, identity.switched);
  const engine = await prepareEngine({ layout, identity, log: silentLog, source });
  expect(engine).toEqual(source);
  const links = await linksOf(engine.native);
  expect(links.length).toBeGreaterThan(0);
  await Promise.all(links.map((link) => stat(join(engine.native, link.path))));
  expect((await stat(join(engine.native, "bin/postgres"))).mode & 0o111).toBe(0o111);
});

test("an engine out of reach is copied beside the data once, and copies of other versions go", async () => {
  const dataDir = await scratchDataDir();
  const directory = await scratchDirectory();
  const source = await bareEngine(directory);
  // Root can repair anything, but must not assume that PostgreSQL's user may pass; others cannot write here.
  if (isRoot) await chmod(directory, 0o700);
  else await Promise.all(["lib", "bin"].map((name) => chmod(join(source.native, name), 0o555)));
  const identity = await chooseIdentity(dataDir);
  const layout = await prepareDataDir(dataDir, identity.switched);
  await mkdir(join(dataDir, "engine-17.1.0"));

  const request = { layout, identity, log: silentLog, source };
  const engine = await prepareEngine(request);
  expect(engine.native).toBe(join(dataDir, `engine-${source.version}`));
  const made = await stat(engine.native);
  expect(await prepareEngine(request)).toEqual(engine);
  expect((await stat(engine.native)).ino).toBe(made.ino);
  // A power failure can leave a copied file empty: such a copy is replaced.
  await writeFile(join(engine.native, "share/postgresql/postgres.bki"), "");
  await prepareEngine(request);
  expect((await stat(join(engine.native, "share/postgresql/postgres.bki"))).size).toBeGreaterThan(0);

  await removeStaleEngines(layout, engine);
  expect(await readdir(dataDir)).toEqual([`engine-${source.version}`]);
  if (!isRoot) await Promise.all(["lib", "bin"].map((name) => chmod(join(source.native, name), 0o755)));
});

test("a cluster of another major version is refused", async () => {
  const dataDir = await usedDataDir();
  await writeFile(join(dataDir, "postgres", "PG_VERSION"), "17\n");
  const refused = start(dataDir);
  await expect(refused).rejects.toThrow(ManagedPostgresError);
  await expect(refused).rejects.toThrow("was made by PostgreSQL 17, but this Waybill brings PostgreSQL 18");
});

test("directories of others are left alone", async () => {
  const dataDir = await scratchDataDir();
  const foreign = join(dataDir, "postgres");
  await mkdir(foreign, { recursive: true });
  await writeFile(join(foreign, "notes.txt"), "mine");
  if (isRoot) await chmod(dataDir, 0o711);
  await expect(start(dataDir)).rejects.toThrow(`${foreign} is not empty and was not made by Waybill`);
  expect(await readFile(join(foreign, "notes.txt"), "utf8")).toBe("mine");

  const cluster = await scratchDirectory();
  await writeFile(join(cluster, "PG_VERSION"), "16\n");
  await expect(start(cluster)).rejects.toThrow(`${cluster} is itself the data directory of a PostgreSQL 16`);
  expect(await readdir(cluster)).toEqual(["PG_VERSION"]);
});

test("a file in the place of the data directory is a clear error", async () => {
  const file = join(await scratchDirectory(), "file");
  await writeFile(file, "");
  await expect(start(file)).rejects.toThrow(`Cannot use ${file} as data directory`);
  await expect(start(join(file, "below"))).rejects.toThrow("a part of the path is not a directory");
});

test.runIf(isRoot)("a parent that PostgreSQL's user cannot enter is named", async () => {
  const closed = await scratchDirectory();
  await chmod(closed, 0o700);
  const refused = start(join(closed, "data"));
  await expect(refused).rejects.toThrow(`cannot enter ${closed}, which is on the way`);
  await expect(refused).rejects.toThrow(`chmod o+x '${closed}'`);
});

test.runIf(isRoot)("a cluster restored by root is given back to PostgreSQL's user", async () => {
  const dataDir = await usedDataDir();
  const restored = await scratchDataDir();
  await cp(dataDir, restored, { recursive: true });
  await chmod(join(restored, "postgres"), 0o755);
  expect((await stat(join(restored, "postgres"))).uid).toBe(0);
  const { connection } = await start(restored);
  expect(await query(connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});
