import { findWalArchive, isArchivingOff, type WalArchive } from "../../../db/managed/index.ts";
import { bytesInWords } from "../../../domain/health.ts";
import { segmentBytes } from "../../../domain/wal.ts";
import { readDisk } from "../../../lib/disk.ts";
import { gibibyte } from "../../../lib/units.ts";
import type { Deps } from "../../kernel/deps.ts";
import { askedSoon, showGauge } from "../../kernel/metrics.ts";
import { listWaiting, readSent } from "./forwarded-service.ts";
import { readArchiver } from "./store.ts";

type StateDeps = Pick<Deps, "config" | "db">;

/** Bytes of the log that wait, beyond which somebody should look, and beyond which the instance is not as it should be. */
const manyBytes = gibibyte;
const tooManyBytes = 4 * gibibyte;
const standardMost = 16 * gibibyte;

/** How archiving goes. */
export interface WalState {
  archive: WalArchive;
  /** Nothing is archived any more, so that the log does not fill the disk. */
  isOff: boolean;
  /** The last attempt was in vain, or files wait for too long to be brought to the archive. */
  isFailing: boolean;
  /** Unix seconds; undefined when nothing was archived yet, or since PostgreSQL crashed. Of what the server brings there, when PostgreSQL wrote it. */
  last_success: number | undefined;
  /** With PostgreSQL, and on the way to the archive. */
  waiting_bytes: number;
  /** What may wait at most. */
  most_bytes: number;
  database_bytes: number;
}

/** Tells how many bytes may wait for an archive at most. */
export async function mostBytes({
  config,
}: {
  config: Pick<StateDeps["config"], "dataDir" | "wal">;
}): Promise<number> {
  if (config.wal?.maxWaitingBytes !== undefined) return config.wal.maxWaitingBytes;
  return Math.min(standardMost, (await readDisk(config.dataDir)).size / 4);
}

/** Reads how archiving of the write-ahead log goes; undefined where it is not asked for. */
export async function readWalState(deps: StateDeps): Promise<WalState | undefined> {
  if (deps.config.wal === undefined) return undefined;
  const archive = await findWalArchive(deps.config.dataDir);
  if (archive === undefined) return undefined;
  const { waiting, last_archived, last_failed, database_bytes } = await readArchiver(deps.db);
  const isOff = isArchivingOff(archive);
  const held = deps.config.wal.forwardTo === undefined ? undefined : await readHeld(archive);
  return {
    archive,
    isOff,
    isFailing:
      isOff || (last_failed !== null && last_failed > (last_archived ?? 0)) || held?.isFailing === true,
    last_success: (held === undefined ? last_archived : held.last_success) ?? undefined,
    waiting_bytes: waiting * segmentBytes + (held?.bytes ?? 0),
    most_bytes: await mostBytes(deps),
    database_bytes,
  };
}

/** Nothing takes longer on its way to an archive that answers, in seconds. */
const longestOnItsWay = 300;

/** Reads what PostgreSQL has written, and the server has not brought to the archive yet. */
async function readHeld(
  archive: WalArchive,
): Promise<{ bytes: number; isFailing: boolean; last_success: number | null }> {
  const [sent, waiting] = await Promise.all([readSent(archive.root), listWaiting(archive)]);
  const oldest = waiting[0]?.at ?? Infinity;
  return {
    bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
    isFailing: sent.failing_since !== null || oldest < Date.now() / 1000 - longestOnItsWay,
    last_success: sent.last_success,
  };
}

/** How the archive of the write-ahead log is, for who asks how the instance is. */
export interface WalHealth {
  status: "ok" | "warning" | "degraded";
  /** A sentence. */
  detail: string;
}

/** Says how an archive is. */
export function judgeWal(state: Omit<WalState, "archive" | "database_bytes">): WalHealth {
  const { isOff, isFailing, waiting_bytes } = state;
  if (isOff)
    return {
      status: "degraded",
      detail:
        "The WAL is not archived any more, because its archive was away for too long: what is written now can be restored only after the next physical backup",
    };
  const waits = `${bytesInWords(waiting_bytes)} of WAL wait for the archive`;
  if (waiting_bytes >= tooManyBytes) return { status: "degraded", detail: waits };
  if (waiting_bytes >= manyBytes) return { status: "warning", detail: waits };
  if (isFailing) return { status: "warning", detail: `The last attempt to archive WAL failed; ${waits}` };
  return { status: "ok", detail: "The WAL is archived" };
}

/** Tells how the archive of the write-ahead log is; undefined where none is asked for. */
export async function walHealth(deps: StateDeps): Promise<WalHealth | undefined> {
  const state = await readWalState(deps);
  return state && judgeWal(state);
}

/** Shows how archiving goes, read whenever somebody looks. Once for a program; nothing where it is not asked for. */
export function showWalArchive(deps: StateDeps & Pick<Deps, "metrics">): void {
  if (deps.config.wal === undefined) return;
  const read = (): Promise<WalState | undefined> => askedSoon(() => readWalState(deps));
  showGauge(
    deps.metrics,
    {
      name: "waybill_wal_archive_last_success_timestamp_seconds",
      help: "When a file of the write-ahead log was last archived, in Unix seconds",
    },
    async () => (await read())?.last_success ?? Number.NaN,
  );
  showGauge(
    deps.metrics,
    {
      name: "waybill_wal_archive_failing",
      help: "1 while the write-ahead log cannot be archived, or is not any more, because that took too long; else 0",
    },
    async () => Number((await read())?.isFailing ?? Number.NaN),
  );
  showGauge(
    deps.metrics,
    {
      name: "waybill_wal_archive_waiting_bytes",
      help: "Bytes of the write-ahead log that wait for the archive, with PostgreSQL or on their way",
    },
    async () => (await read())?.waiting_bytes ?? Number.NaN,
  );
}
