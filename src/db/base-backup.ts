import pg from "pg";

import type { Database } from "./connect.ts";

/** What PostgreSQL sends of its own files, in this order; pieces of each kind follow each other. */
export type BaseBackupPiece =
  | {
      kind: "start";
      /** Where in the write-ahead log a recovery of these files begins. */
      lsn: string;
      timeline: number;
      /** About how many bytes there will be. */
      total: number;
    }
  /** A piece of a tar of the data directory, with the log that it takes to make it that of one moment. */
  | { kind: "cluster"; bytes: Buffer }
  /** A piece of the list of files and checksums, as JSON. */
  | { kind: "manifest"; bytes: Buffer }
  /** Everything before was sent. The files are those of the moment at this place of the log. */
  | { kind: "end"; lsn: string };

/** Bytes waiting for whoever reads, above and below which the sender is asked to wait and to go on. */
const most = 2 * 1024 * 1024;
const few = 256 * 1024;

/** The parts of the driver that it does not describe. */
interface Wire {
  query(text: string): void;
  stream: { pause(): void; resume(): void; destroy(): void };
}

/**
 * Runs `BASE_BACKUP` (PostgreSQL's documentation, "Streaming Replication Protocol"): a list of where it begins, one of
 * tablespaces, a stream of messages whose first byte is their type, and a list of where it ends.
 */
class BaseBackupQuery {
  readonly #text: string;
  readonly #pieces: BaseBackupPiece[] = [];
  readonly #places: [lsn: string, timeline: number][] = [];
  #bytes = 0;
  #total = 0;
  #columns: string[] = [];
  #receiving: "cluster" | "manifest" = "cluster";
  #wire: Wire | undefined;
  #isPaused = false;
  #isOver = false;
  #failure: Error | undefined;
  #wake = (): void => {};

  constructor(text: string) {
    this.#text = text;
  }

  submit(wire: Wire): void {
    this.#wire = wire;
    wire.query(this.#text);
  }

  handleRowDescription({ fields }: { fields: { name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row = new Map(this.#columns.map((name, index) => [name, fields[index] ?? null]));
    if (row.has("recptr")) this.#places.push([row.get("recptr") ?? "", Number(row.get("tli"))]);
    else if (row.has("spcoid")) {
      if (typeof row.get("spcoid") === "string") this.#fail(new Error("tablespaces are not backed up"));
      const kilobytes = Number(row.get("size") ?? 0);
      this.#total += kilobytes * 1024;
      const [lsn, timeline] = this.#places[0] ?? ["", Number.NaN];
      this.#add({ kind: "start", lsn, timeline, total: this.#total });
    }
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    const type = String.fromCharCode(chunk[0] ?? 0);
    if (type === "m") this.#receiving = "manifest";
    // The driver uses its buffer again.
    if (type === "d") this.#add({ kind: this.#receiving, bytes: Buffer.from(chunk.subarray(1)) });
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    const [lsn] = this.#places[1] ?? [];
    if (lsn === undefined) return this.#fail(new Error("the base backup has no end"));
    this.#add({ kind: "end", lsn });
    this.#isOver = true;
    this.#wake();
  }

  handleError(error: Error): void {
    this.#fail(error);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  #add(piece: BaseBackupPiece): void {
    this.#pieces.push(piece);
    if ("bytes" in piece) this.#bytes += piece.bytes.length;
    if (this.#bytes > most && !this.#isPaused) {
      this.#isPaused = true;
      this.#wire?.stream.pause();
    }
    this.#wake();
  }

  /** Gives the pieces as they come. Ends when PostgreSQL has said that all were sent. */
  async *pieces(): AsyncGenerator<BaseBackupPiece> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const piece = this.#pieces.shift();
      if (piece === undefined) {
        if (this.#isOver) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      if ("bytes" in piece) this.#bytes -= piece.bytes.length;
      if (this.#isPaused && this.#bytes < few) {
        this.#isPaused = false;
        this.#wire?.stream.resume();
      }
      yield piece;
    }
  }
}

const command =
  "BASE_BACKUP (LABEL 'waybill', PROGRESS true, CHECKPOINT 'fast', WAL true, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')";

/**
 * Reads all files of the PostgreSQL at the other end while it runs, at most some megabytes ahead of the reader. The role has to be a
 * superuser, or one for replication.
 * @param signal has it end at once, also while PostgreSQL sends nothing.
 * @throws what connecting and reading fail with; the reason of the signal.
 */
export async function* readBaseBackup(
  { direct }: Pick<Database, "direct">,
  signal?: AbortSignal,
): AsyncGenerator<BaseBackupPiece> {
  signal?.throwIfAborted();
  // Settings of our own sessions are left out with the rest.
  const {
    pipeline: _,
    stream: __,
    options: ___,
    ...rest
  } = direct.options as pg.ClientConfig & { pipeline?: boolean };
  const client = new pg.Client({ ...rest, replication: "true" } as pg.ClientConfig);
  const query = new BaseBackupQuery(command);
  client.on("error", (error) => query.handleError(error));
  const { connection } = client as unknown as { connection: Wire };
  const giveUp = (): void => {
    query.handleError(signal?.reason as Error);
    connection.stream.destroy();
  };
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    await client.connect();
    client.query(query as unknown as pg.Submittable);
    yield* query.pieces();
  } finally {
    signal?.removeEventListener("abort", giveUp);
    connection.stream.destroy();
  }
}
