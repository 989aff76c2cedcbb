import { createHash, type Hash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

import { DamagedArchive, readTar, type TarMember } from "../../../lib/tar-reader.ts";
import {
  type BackupFile,
  type BackupHead,
  headPath,
  type ManifestEnd,
  type ManifestLine,
  manifestPath,
  parseHead,
  parseManifestLine,
  parsePath,
  partBytes,
  type Sums,
  sumUp,
  tableKey,
} from "../../../domain/backup-format.ts";

const decompress = promisify(gunzip);

/** What is done with the content of a backup while it is read. All of it has to be taken for what it is. */
export interface BackupVisitor {
  head?(head: BackupHead): Promise<void>;
  /** The next piece of a table. */
  part?(table: string, bytes: Buffer, isLast: boolean): Promise<void>;
  /** The bytes of a file, which need not be those of this digest until they have been read. */
  evidence?(sha256: string, content: Readable): Promise<void>;
  /** A line of the manifest, once it is known that all before it is as it was written. */
  line?(line: ManifestLine): Promise<void>;
}

/** What a backup was found to be. */
export interface ReadBackup {
  head: BackupHead;
  end: ManifestEnd;
}

function damaged(what: string): DamagedArchive {
  return new DamagedArchive(`The backup is damaged: ${what}`);
}

/** Far above the largest head there may be, and the largest part. */
const mostHeadBytes = 64 * 1024 * 1024;
const mostPartBytes = 4 * partBytes;

/** Splits a text into its lines. @throws DamagedArchive when the last one does not end. */
async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const piece of content) {
    rest = Buffer.concat([rest, piece]);
    let from = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, from)) {
      yield rest.toString("utf8", from, end);
      from = end + 1;
    }
    rest = rest.subarray(from);
  }
  if (rest.length > 0) throw damaged("the last line of its manifest has no end");
}

interface OpenTable {
  hash: Hash;
  parts: number;
  bytes: number;
  isComplete: boolean;
}

/** Follows a backup from file to file. */
class BackupReading {
  readonly #visitor: BackupVisitor;
  readonly #tables = new Map<string, OpenTable>();
  /** Contents whose bytes were not what their names say. */
  readonly #wrong = new Set<string>();
  #evidence = 0;
  head: BackupHead | undefined;
  end: ManifestEnd | undefined;

  constructor(visitor: BackupVisitor) {
    this.#visitor = visitor;
  }

  async member(member: TarMember): Promise<void> {
    if (this.end !== undefined) throw damaged("something follows its manifest");
    if (this.head === undefined) return this.#readHead(member);
    const file = parsePath(member.path);
    if (file === undefined) throw damaged(`no backup has a file ${JSON.stringify(member.path)}`);
    if (file.kind === "part") return this.#readPart(file, member);
    if (file.kind === "evidence") return this.#readEvidence(file.sha256, member);
    return this.#readManifest(member);
  }

  async #readHead(member: TarMember): Promise<void> {
    if (member.path !== headPath || member.size > mostHeadBytes)
      throw new DamagedArchive("This is no backup of Waybill");
    const head = parseHead((await buffer(member.content)).toString());
    if (head === undefined)
      throw new DamagedArchive("The backup is damaged, or was made by a newer version of Waybill");
    this.head = head;
    for (const table of head.tables)
      this.#tables.set(tableKey(table), {
        hash: createHash("sha256"),
        parts: 0,
        bytes: 0,
        isComplete: false,
      });
    await this.#visitor.head?.(head);
  }

  async #readPart(file: Extract<BackupFile, { kind: "part" }>, member: TarMember): Promise<void> {
    const table = this.#tables.get(file.table);
    if (table === undefined || table.isComplete || file.number !== table.parts + 1)
      throw damaged(`part ${file.number} of table ${file.table} stands where it does not belong`);
    if (member.size > mostPartBytes) throw damaged(`a part of table ${file.table} is too large`);
    const packed = await buffer(member.content);
    const bytes = await decompress(packed, { maxOutputLength: mostPartBytes }).catch(() => {
      throw damaged(`a part of table ${file.table} cannot be unpacked`);
    });
    table.parts = file.number;
    table.isComplete = file.isLast;
    table.bytes += bytes.length;
    table.hash.update(bytes);
    await this.#visitor.part?.(file.table, bytes, file.isLast);
  }

  async #readEvidence(sha256: string, { content }: TarMember): Promise<void> {
    const hash = createHash("sha256");
    async function* hashed(): AsyncGenerator<Buffer> {
      for await (const piece of content) {
        hash.update(piece);
        yield piece;
      }
    }
    const bytes = Readable.from(hashed(), { objectMode: false });
    if (this.#visitor.evidence === undefined) for await (const _ of bytes);
    else await this.#visitor.evidence(sha256, bytes);
    this.#evidence += 1;
    if (hash.digest("hex") !== sha256) this.#wrong.add(sha256);
  }

  async #readManifest(member: TarMember): Promise<void> {
    const archive = member.digestBefore();
    const lines = createHash("sha256");
    const known: ManifestLine[] = [];
    for await (const text of linesOf(member.content)) {
      if (this.end !== undefined) throw damaged("its manifest does not end where it says");
      const line = parseManifestLine(text);
      if (line === undefined) throw damaged("its manifest cannot be read");
      if (line.kind === "end") this.end = line;
      else {
        lines.update(`${text}\n`);
        known.push(line);
      }
    }
    const { end } = this;
    if (end === undefined || end.lines_sha256 !== lines.digest("hex"))
      throw damaged("its manifest is incomplete");
    if (end.archive_sha256 !== archive) throw damaged("its bytes are not those that were written");
    this.#compare(known);
    for (const line of known) await this.#visitor.line?.(line);
  }

  /** Compares what was read with what the manifest says there is. */
  #compare(lines: readonly ManifestLine[]): void {
    if (this.end?.id !== this.head?.id) throw damaged("its manifest is that of another");
    const { sums, needs } = sumUp(lines, this.head?.id);
    const isSummary = Object.entries(sums).every(([name, sum]) => this.end?.[name as keyof Sums] === sum);
    if (!isSummary || [...needs].join() !== this.end?.needs.join())
      throw damaged("the last line of its manifest does not fit the others");
    let evidence = 0;
    for (const line of lines)
      if (line.kind === "table") {
        const table = this.#tables.get(line.table);
        this.#tables.delete(line.table);
        const fits = table?.isComplete === true && table.bytes === line.bytes;
        if (!fits || table.hash.digest("hex") !== line.sha256)
          throw damaged(`table ${line.table} is not what its manifest says`);
      } else if (line.kind === "evidence" && line.in === this.head?.id) {
        evidence += 1;
        if (this.#wrong.has(line.sha256) !== (line.problem !== undefined))
          throw damaged(`evidence ${line.sha256} is not what its name says`);
      }
    const [missing] = this.#tables.keys();
    if (missing !== undefined) throw damaged(`table ${missing} is missing in its manifest`);
    if (evidence !== this.#evidence) throw damaged("files of evidence are missing, or too many");
  }
}

/**
 * Reads a backup from its beginning to its end, and compares every byte with what was written.
 * @throws DamagedArchive for one that is damaged, incomplete, or none; what the visitor fails with.
 */
export async function readBackup(
  source: AsyncIterable<Buffer>,
  visitor: BackupVisitor = {},
): Promise<ReadBackup> {
  const reading = new BackupReading(visitor);
  for await (const member of readTar(source)) await reading.member(member);
  if (reading.head === undefined) throw new DamagedArchive("This is no backup of Waybill");
  if (reading.end === undefined) throw damaged(`it ends before its ${manifestPath}`);
  return { head: reading.head, end: reading.end };
}
