import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

import { readBaseBackup } from "../../../db/base-backup.ts";
import { openDedicated } from "../../../db/dedicated.ts";
import {
  clusterManifestPath,
  clusterPartBytes,
  clusterPartPath,
  type ClusterFacts,
} from "../../../domain/backup-format.ts";
import { invalid } from "../../../domain/errors.ts";
import { present } from "../../../lib/present.ts";
import { keepContents } from "../../process/evidence/verify-service.ts";
import { type ArchiveWriter, type Sink, writeArchive } from "./archive-writer.ts";
import { readFacts } from "./catalog-store.ts";
import {
  type BackupDeps,
  type BackupOptions,
  finishArchive,
  type MadeBackup,
  writeHead,
} from "./write-service.ts";

const compress = promisify(gzip);

/** How a physical backup is made. */
export interface PhysicalOptions extends BackupOptions {
  /** The life of the WAL archive that has what comes after it; undefined when none is kept. */
  life: string | undefined;
  /** Has PostgreSQL send no more. */
  signal?: AbortSignal;
}

/** Gathers what comes in pieces into parts, and writes each when it is full. */
function gatherParts(archive: ArchiveWriter) {
  const hash = createHash("sha256");
  let pieces: Buffer[] = [];
  let [size, bytes, number] = [0, 0, 0];
  async function flush(isLast: boolean): Promise<void> {
    const part = Buffer.concat(pieces);
    [pieces, size] = [[], 0];
    number += 1;
    hash.update(part);
    await archive.add(
      clusterPartPath(number, isLast),
      await compress(part, { level: constants.Z_BEST_SPEED }),
    );
  }
  return {
    add: async (piece: Buffer): Promise<void> => {
      if (size >= clusterPartBytes) await flush(false);
      pieces.push(piece);
      size += piece.length;
      bytes += piece.length;
    },
    bytes: () => bytes,
    end: async () => {
      await flush(true);
      return { bytes, sha256: hash.digest("hex") };
    },
  };
}

/** Writes all files of PostgreSQL. @returns what a manifest says of them. */
async function writeCluster(
  deps: BackupDeps,
  archive: ArchiveWriter,
  options: PhysicalOptions,
): Promise<Omit<ClusterFacts, "finished_at">> {
  const parts = gatherParts(archive);
  const manifest: Buffer[] = [];
  let [start, end]: [{ lsn: string; timeline: number; total: number } | undefined, string | undefined] = [
    undefined,
    undefined,
  ];
  for await (const piece of readBaseBackup(deps.db, options.signal))
    if (piece.kind === "start") start = piece;
    else if (piece.kind === "manifest") manifest.push(piece.bytes);
    else if (piece.kind === "end") end = piece.lsn;
    else {
      await parts.add(piece.bytes);
      const total = start?.total ?? 0;
      options.report?.(Math.min(parts.bytes(), total), total);
    }
  const whole = await parts.end();
  await archive.add(clusterManifestPath, Buffer.concat(manifest));
  const { lsn, timeline } = present(start, "it begins with that");
  return { ...whole, timeline, start_lsn: lsn, end_lsn: present(end, "it ends with that") };
}

/**
 * Writes a backup of the files of the PostgreSQL that this program runs itself, and of the evidence its rows name, beside whatever else
 * goes on. The sink is not finished by it, and to be abandoned when it fails.
 * @throws AppError validation for any other PostgreSQL; what reading and writing fail with.
 */
export async function writePhysicalBackup(
  deps: BackupDeps & { config: { databaseUrl: string | undefined } },
  sink: Sink,
  options: PhysicalOptions,
): Promise<MadeBackup> {
  if (deps.config.databaseUrl !== undefined)
    throw invalid(
      "Physical backups are those of the PostgreSQL that Waybill runs itself: make a portable one, or use the tools of your PostgreSQL",
    );
  const connection = await openDedicated(deps.db);
  try {
    // Before the moment of the backup: what its rows name is not removed while it is made.
    await keepContents(connection);
    const facts = await readFacts(connection);
    const made_at = facts.now;
    const archive = writeArchive(sink, made_at);
    const own = { kind: "physical" as const, tables: [], life: options.life ?? null };
    await writeHead(connection, archive, { facts, options, own });
    const written = await writeCluster(deps, archive, options);
    // What is there by now includes all that is in these files.
    const { now: finished_at } = await readFacts(connection);
    const cluster = { ...written, finished_at };
    return await finishArchive({ ...deps, snapshot: connection }, archive, {
      lines: [],
      options,
      made_at,
      cluster,
    });
  } finally {
    connection.cut();
  }
}
