import { isDistributed } from "../../../db/citus/distribute.ts";
import { type Dedicated, openDedicated } from "../../../db/dedicated.ts";
import type { Executor } from "../../../db/executor.ts";
import { isDatabaseFull } from "../../../db/sqlstate.ts";
import { shareOfTime } from "../../../domain/backups.ts";
import { invalid } from "../../../domain/errors.ts";
import { sha256 } from "../../../lib/hash.ts";
import { eachInParallel } from "../../../lib/parallel.ts";
import { keepPace, type Pause } from "../../../lib/pace.ts";
import { present } from "../../../lib/present.ts";
import type { Deps } from "../../kernel/deps.ts";
import { keepContents } from "../../process/evidence/verify-service.ts";
import { type ArchiveWriter, type Sink, writeArchive } from "./archive-writer.ts";
import {
  beginLook,
  type DatabaseFacts,
  endSnapshot,
  type CatalogTable,
  joinSnapshot,
  listMigrations,
  listSequences,
  listTables,
  readFacts,
  shareLook,
} from "./catalog-store.ts";
import { writeEvidence } from "./evidence-service.ts";
import {
  type BackupHead,
  type ClusterFacts,
  type EvidenceChoice,
  type EvidenceLine,
  formatNumber,
  headPath,
  type ManifestEnd,
  type ManifestLine,
  manifestPath,
  type PhysicalHead,
  type PortableHead,
  secretKeyPath,
  sumUp,
} from "../../../domain/backup-format.ts";
import { writeTable } from "./tables-service.ts";

/** How a backup is made. */
export interface BackupOptions {
  /** A UUID of its own. */
  id: string;
  /** Version of the program. */
  program: string;
  evidence: EvidenceChoice;
  /** The installation's secret key, to be in the backup: only for one that is encrypted. */
  secretKey?: string;
  /** Contents that earlier backups have, and which: ids by digest. For the choice `new`. */
  earlier?: ReadonlyMap<string, string>;
  /** Whether a portable one leaves others most of the time, and takes longer for that: nobody waits for a backup by the clock. */
  unhurried?: boolean;
  /** Told how much of the tables was read, and about how much there is, in bytes. */
  report?(done: number, total: number): void;
}

/** A backup that was made. */
export interface MadeBackup {
  /** Unix seconds by the clock of the database. */
  made_at: number;
  /** Of the file. */
  bytes: number;
  end: ManifestEnd;
  /** Evidence whose bytes could not be taken. */
  problems: EvidenceLine[];
}

export type BackupDeps = Pick<Deps, "db" | "evidence">;

/** What the beginnings of the two kinds of backups do not share. */
type OwnHead = Pick<PortableHead, "tables"> | Pick<PhysicalHead, "kind" | "tables" | "life">;

const attempts = 5;

/** The database as it is at one moment. */
interface Look {
  connection: Dedicated;
  /** What others share it by; undefined when they cannot. */
  snapshot: string | undefined;
  tables: CatalogTable[];
}

/** Begins a look in which no table is other than those listed. */
async function lookAt(connection: Dedicated, isShared = true): Promise<Look> {
  for (let attempt = 1; ; attempt += 1) {
    const expected = await listTables(connection);
    await beginLook(connection, expected);
    let snapshot: string | undefined;
    try {
      snapshot = isShared ? await shareLook(connection) : undefined;
    } catch (error) {
      if (!isDatabaseFull(error)) throw error;
      // PostgreSQL writes a file for that. Without it the backup takes longer, and it is wanted all the more.
      await endSnapshot(connection);
      return lookAt(connection, false);
    }
    const tables = await listTables(connection);
    const ids = new Set(expected.map((table) => table.id));
    if (tables.length === ids.size && tables.every((table) => ids.has(table.id)))
      return { connection, snapshot, tables };
    if (attempt === attempts) throw invalid("Tables are being changed: try again when that is done");
    await endSnapshot(connection);
  }
}

/** Writes what a backup begins with, of the database and of its own kind, and the secret key, where that is to be in it. */
export async function writeHead(
  connection: Dedicated,
  archive: ArchiveWriter,
  { facts, options, own }: { facts: DatabaseFacts; options: BackupOptions; own: OwnHead },
): Promise<void> {
  const head: BackupHead = {
    format: formatNumber,
    id: options.id,
    program: options.program,
    database_time: facts.now,
    lsn: facts.lsn,
    database_version: facts.version,
    migrations: await listMigrations(connection),
    organizations: facts.organizations,
    secret_key_fingerprint: facts.secret_key_fingerprint,
    evidence: options.evidence,
    ...own,
  };
  await archive.add(headPath, Buffer.from(`${JSON.stringify(head)}\n`));
  if (options.secretKey !== undefined)
    await archive.add(secretKeyPath, Buffer.from(`${options.secretKey}\n`));
}

/** Tables that are read at the same time by a backup that somebody waits for. */
const connections = 2;

const sizeOf = ({ tables }: Look): number => tables.reduce((sum, { size }) => sum + size, 0);

/** Writes all tables, with several connections where these can share the look. @returns their lines for the manifest. */
async function writeTables(
  deps: BackupDeps,
  archive: ArchiveWriter,
  look: Look,
  { unhurried = false, report, pause }: BackupOptions & { pause: Pause },
): Promise<ManifestLine[]> {
  const total = sizeOf(look);
  const lines: ManifestLine[] = [];
  let done = 0;
  const write = async (connection: Dedicated, table: CatalogTable): Promise<void> => {
    const advance = (bytes: number): void => {
      done += bytes;
      report?.(Math.min(done, total), total);
    };
    const line = await writeTable(connection, archive, table, { advance, pause });
    lines.push(line);
  };
  const { snapshot } = look;
  if (snapshot === undefined) {
    for (const table of look.tables) await write(look.connection, table);
    return lines;
  }
  const idle: Dedicated[] = [];
  try {
    await eachInParallel(look.tables, unhurried ? 1 : connections, async (table) => {
      const connection = idle.pop() ?? (await openDedicated(deps.db));
      try {
        await joinSnapshot(connection, snapshot);
        await write(connection, table);
        await endSnapshot(connection);
        idle.push(connection);
      } catch (error) {
        connection.cut();
        throw error;
      }
    });
  } finally {
    for (const connection of idle) connection.cut();
  }
  return lines;
}

/** Makes the manifest: its lines, and the last one which says what precedes it. */
function writeManifest(
  lines: readonly ManifestLine[],
  { id, archive_sha256 }: Pick<ManifestEnd, "id" | "archive_sha256">,
  cluster: ClusterFacts | undefined,
): { text: Buffer; end: ManifestEnd } {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const { sums, needs } = sumUp(lines, id);
  const lines_sha256 = sha256(text).toString("hex");
  const end: ManifestEnd = {
    kind: "end",
    id,
    archive_sha256,
    lines_sha256,
    ...sums,
    needs: [...needs],
    ...(cluster && { cluster }),
  };
  return { text: Buffer.from(`${text}${JSON.stringify(end)}\n`), end };
}

async function writeAll(
  deps: BackupDeps,
  connection: Dedicated,
  sink: Sink,
  options: BackupOptions,
): Promise<MadeBackup> {
  // Before the moment of the backup: what its rows name is not removed while it is made.
  await keepContents(connection);
  const look = await lookAt(connection);
  const facts = await readFacts(connection);
  const pause = keepPace(options.unhurried === true ? shareOfTime(sizeOf(look)) : 1);
  const archive = writeArchive(sink, facts.now, pause);
  const tables = look.tables.map(({ schema, name, columns, partitioned }) => ({
    schema,
    name,
    columns,
    partitioned,
  }));
  await writeHead(connection, archive, { facts, options, own: { tables } });
  const lines = await writeTables(deps, archive, look, { ...options, pause });
  for (const sequence of await listSequences(connection)) lines.push({ kind: "sequence", ...sequence });
  const snapshot = connection;
  return finishArchive({ ...deps, snapshot }, archive, { lines, options, made_at: facts.now });
}

/**
 * Writes the evidence that a look at the database names, and then the end of a backup.
 * @param given lines of the manifest that are known, and what it says of PostgreSQL's files in a physical one.
 */
export async function finishArchive(
  deps: Pick<Deps, "evidence"> & { snapshot: Executor },
  archive: ArchiveWriter,
  given: { lines: ManifestLine[]; options: BackupOptions; made_at: number; cluster?: ClusterFacts },
): Promise<MadeBackup> {
  const { lines, options, made_at, cluster } = given;
  const { id } = options;
  const plan = {
    id,
    takesBytes: options.evidence !== "none",
    earlier: (sha256: string) => options.earlier?.get(sha256),
  };
  const problems: EvidenceLine[] = [];
  for await (const line of writeEvidence(deps, archive, plan)) {
    lines.push(line);
    if (line.problem !== undefined) problems.push(line);
  }
  let end: ManifestEnd | undefined;
  await archive.end(manifestPath, (archive_sha256) => {
    const manifest = writeManifest(lines, { id, archive_sha256 }, cluster);
    end = manifest.end;
    return manifest.text;
  });
  return { made_at, bytes: archive.written(), end: present(end, "it was written"), problems };
}

/**
 * Writes a backup of the whole database as it is at one moment, and of the evidence it names, beside whatever else goes on. The sink
 * is not finished by it, and to be abandoned when it fails.
 * @throws AppError validation on Citus, and while tables are changed; what reading and writing fail with.
 */
export async function writeBackup(deps: BackupDeps, sink: Sink, options: BackupOptions): Promise<MadeBackup> {
  if (await isDistributed(deps.db.pool))
    throw invalid("A database on Citus is backed up node by node, by what its cluster has for that");
  const connection = await openDedicated(deps.db);
  try {
    return await writeAll(deps, connection, sink, options);
  } finally {
    connection.cut();
  }
}
