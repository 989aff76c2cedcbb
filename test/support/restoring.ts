import { createHash, randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";

import { inject } from "vitest";

import { migrationsFolder, prepareDatabase } from "../../src/open-database.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import { migrate, readMigrations } from "../../src/db/migrate.ts";
import {
  manifestPath,
  type ManifestEnd,
  type ManifestLine,
  parseManifestLine,
  parsePath,
} from "../../src/domain/backup-format.ts";
import { createEvidenceStore } from "../../src/evidence/create.ts";
import type { EvidenceStore } from "../../src/evidence/store.ts";
import { migrateJobs } from "../../src/jobs/runner.ts";
import { silentLog } from "../../src/lib/log.ts";
import { readTar } from "../../src/lib/tar-reader.ts";
import { writeArchive } from "../../src/modules/maintenance/backups/archive-writer.ts";
import { openFileSink } from "../../src/modules/maintenance/backups/file-sink.ts";
import {
  restoreBackup,
  type Restored,
  type RestoreOptions,
} from "../../src/modules/maintenance/backups/restore-service.ts";
import { writeBackup } from "../../src/modules/maintenance/backups/write-service.ts";
import type { TestApp } from "./app.ts";
import {
  type Connection,
  createDatabase,
  dropDatabase,
  giveDatabase,
  urlOf,
  withDatabase,
} from "./databases.ts";
import { uniqueName } from "./unique-name.ts";

/** A new database, which is empty unless it is a clone. */
export interface RestoreTarget {
  url: string;
  evidenceDir: string;
  evidence: EvidenceStore;
  /** Opens it for a while, as commands do. */
  opened<T>(work: (db: Database) => Promise<T>): Promise<T>;
  restore(file: string, options?: Partial<RestoreOptions>): Promise<Restored>;
  remove(): Promise<void>;
}

async function steps(db: Database) {
  return {
    migrations: await readMigrations(migrationsFolder),
    makeUntil: async (last: string) => {
      await migrate(db.direct, migrationsFolder, { until: last });
      await migrateJobs(db.direct, silentLog);
    },
    finish: () => prepareDatabase(db, silentLog),
  };
}

/** Where a database is made to restore into. */
interface RestorePlace {
  /** The run's unless another one is named. */
  server?: Connection;
  /** Who is to own the database and to restore into it, by a name that needs no quotes; who connects to the server unless given. */
  owner?: string;
  /** A database of which it is a clone; it is empty unless given. */
  template?: string;
}

/** Connects as somebody else. */
function connectionAs(connection: Connection, user: string | undefined): Connection {
  if (user === undefined) return connection;
  if (typeof connection !== "string") return { ...connection, user };
  const url = new URL(connection);
  url.username = user;
  return url.href;
}

/** Makes a new database, with a way to restore into it. @param folder for its files. */
export async function restoreTarget(
  folder: string,
  { server = inject("postgres"), owner, template }: RestorePlace = {},
): Promise<RestoreTarget> {
  const name = uniqueName("restored").replaceAll("-", "_");
  await createDatabase(server, name, template);
  if (owner !== undefined) await giveDatabase(server, name, owner);
  const evidenceDir = join(folder, name);
  const evidence = createEvidenceStore({ dir: evidenceDir, maxBytes: 1, s3: undefined });
  const opened: RestoreTarget["opened"] = async (work) => {
    const db = connect({ connection: connectionAs(withDatabase(server, name), owner), max: 3 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };
  return {
    url: urlOf(server, name),
    evidenceDir,
    evidence,
    opened,
    restore: (file, options = {}) =>
      opened(async (db) =>
        restoreBackup(
          { db, evidence },
          {
            open: () => createReadStream(file),
            openOther: async () => undefined,
            schema: await steps(db),
            replace: false,
            quarantine: false,
            quick: false,
            report: () => {},
            ...options,
          },
        ),
      ),
    remove: () => dropDatabase(server, name),
  };
}

/** Makes a backup of everything. */
export async function makeBackup(app: TestApp, path: string): Promise<string> {
  const sink = await openFileSink(path);
  await writeBackup(app.deps, sink, { id: randomUUID(), program: "1", evidence: "full" });
  await sink.finish();
  return path;
}

/** What is changed of a backup: rows of a table, as PostgreSQL copies them, or the bytes of a file of evidence. */
export interface Forgery {
  part?(table: string, bytes: Buffer): Buffer;
  evidence?(sha256: string, bytes: Buffer): Buffer;
}

const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");

/** Writes a backup again with other content, and digests that fit it: what only somebody who means it can do. */
export async function forge(source: string, path: string, { part, evidence }: Forgery): Promise<string> {
  if (existsSync(path)) throw new Error(`${path} is there already`);
  const sink = await openFileSink(path);
  const archive = writeArchive(sink, 0);
  const tables = new Map<string, Buffer[]>();
  for await (const member of readTar(createReadStream(source))) {
    const bytes = await buffer(member.content);
    const file = parsePath(member.path);
    if (member.path === manifestPath) {
      const lines = bytes.toString().trimEnd().split("\n").map(parseManifestLine) as ManifestLine[];
      const end = lines.pop() as ManifestEnd;
      const text = lines
        .map((line) => {
          if (line.kind !== "table") return line;
          const all = Buffer.concat(tables.get(line.table) ?? []);
          return { ...line, bytes: all.length, sha256: sha256(all) };
        })
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("");
      await archive.end(manifestPath, (archive_sha256) =>
        Buffer.from(`${text}${JSON.stringify({ ...end, archive_sha256, lines_sha256: sha256(text) })}\n`),
      );
    } else if (file?.kind === "part") {
      const rows = gunzipSync(bytes);
      const forged = part?.(file.table, rows) ?? rows;
      tables.set(file.table, [...(tables.get(file.table) ?? []), forged]);
      await archive.add(member.path, gzipSync(forged));
    } else if (file?.kind === "evidence")
      await archive.add(member.path, evidence?.(file.sha256, bytes) ?? bytes);
    else await archive.add(member.path, bytes);
  }
  await sink.finish();
  return path;
}

/** What `waybill restore` ends with when all went well: where the run has tables divided, they are no more, which is a warning. */
export const restoredCode = (): number => (inject("divided") ? 3 : 0);

/** Leaves out of what a restore warned of that tables were divided, which it says of each where the run has them so. */
export function besideDivision(warnings: readonly string[]): string[] {
  return inject("divided")
    ? warnings.filter((text) => !text.includes("was divided by months"))
    : [...warnings];
}
