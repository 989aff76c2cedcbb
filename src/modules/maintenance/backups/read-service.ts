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
  isPhysical,
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
  /** The secret key of the installation. */
  secretKey?(key: string): void;
  /** The next piece of a table. */
  part?(table: string, bytes: Buffer, isLast: boolean): Promise<void>;
  /** The next piece of the tar of PostgreSQL's files, and whether it is the last. */
  cluster?(bytes: Buffer, isLast: boolean): Promise<void>;
  /** PostgreSQL's own list of these files. */
  clusterManifest?(bytes: Buffer): Promise<void>;
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
const mostKeyBytes = 64 * 1024;
const mostManifestBytes = 256 * 1024 * 1024;

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

/** What comes in parts, as far as it has come. */
interface OpenTable {
  hash: Hash;
  parts: number;
  bytes: number;
  isComplete: boolean;
}

function openTable(): OpenTable {
  return { hash: createHash("sha256"), parts: 0, bytes: 0, isComplete: false };
}

/** Unpacks the next part of something. @param name what it is called in sentences. */
async function readPart(
  table: OpenTable | undefined,
  { number, isLast }: { number: number; isLast: boolean },
  { name, member }: { name: string; member: TarMember },
): Promise<Buffer> {
  if (table === undefined || table.isComplete || number !== table.parts + 1)
    throw damaged(`part ${number} of ${name} stands where it does not belong`);
  if (member.size > mostPartBytes) throw damaged(`a part of ${name} is too large`);
  const packed = await buffer(member.content);
  const bytes = await decompress(packed, { maxOutputLength: mostPartBytes }).catch(() => {
    throw damaged(`a part of ${name} cannot be unpacked`);
  });
  table.parts = number;
  table.isComplete = isLast;
  table.bytes += bytes.length;
  table.hash.update(bytes);
  return bytes;
}

/** Follows a backup from file to file. */
class BackupReading {
  readonly #visitor: BackupVisitor;
  readonly #tables = new Map<string, OpenTable>();
  /** Contents whose bytes were not what their names say. */
  readonly #wrong = new Set<string>();
  #evidence = 0;
  /** PostgreSQL's files, and whether its list of them was there. */
  readonly #cluster = openTable();
  #hasClusterManifest = false;
  /** How many files there were before the present one. */
  #members = 0;
  head: BackupHead | undefined;
  end: ManifestEnd | undefined;

  constructor(visitor: BackupVisitor) {
    this.#visitor = visitor;
  }

  async member(member: TarMember): Promise<void> {
    if (this.end !== undefined) throw damaged("something follows its manifest");
    this.#members += 1;
    if (this.head === undefined) return this.#readHead(member);
    const file = parsePath(member.path);
    if (file === undefined) throw damaged(`no backup has a file ${JSON.stringify(member.path)}`);
    if (file.kind === "secret key") return this.#readSecretKey(member);
    if (file.kind === "part") return this.#readPart(file, member);
    if (file.kind === "cluster") return this.#readCluster(file, member);
    if (file.kind === "cluster manifest") return this.#readClusterManifest(member);
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
    for (const table of isPhysical(head) ? [] : head.tables) this.#tables.set(tableKey(table), openTable());
    await this.#visitor.head?.(head);
  }

  async #readSecretKey(member: TarMember): Promise<void> {
    if (this.#members !== 2 || member.size > mostKeyBytes)
      throw damaged("a secret key stands where it does not belong");
    this.#visitor.secretKey?.((await buffer(member.content)).toString().trim());
  }

  async #readPart(file: Extract<BackupFile, { kind: "part" }>, member: TarMember): Promise<void> {
    const name = `table ${file.table}`;
    const bytes = await readPart(this.#tables.get(file.table), file, { name, member });
    await this.#visitor.part?.(file.table, bytes, file.isLast);
  }

  async #readCluster(file: Extract<BackupFile, { kind: "cluster" }>, member: TarMember): Promise<void> {
    const bytes = await readPart(this.#cluster, file, { name: "PostgreSQL's files", member });
    await this.#visitor.cluster?.(bytes, file.isLast);
  }

  async #readClusterManifest(member: TarMember): Promise<void> {
    if (this.#hasClusterManifest || member.size > mostManifestBytes)
      throw damaged("PostgreSQL's list of its files stands where it does not belong");
    this.#hasClusterManifest = true;
    await this.#visitor.clusterManifest?.(await buffer(member.content));
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

  /** Compares PostgreSQL's files with what the end of the manifest says of them. */
  #compareCluster(): void {
    const [read, said] = [this.#cluster, this.end?.cluster];
    const expected = this.head !== undefined && isPhysical(this.head);
    if (
      expected !== (said !== undefined) ||
      read.isComplete !== expected ||
      this.#hasClusterManifest !== expected
    )
      throw damaged("PostgreSQL's files are missing, or too many");
    if (said !== undefined && (read.bytes !== said.bytes || read.hash.digest("hex") !== said.sha256))
      throw damaged("PostgreSQL's files are not what its manifest says");
  }

  /** Compares what was read with what the manifest says there is. */
  #compare(lines: readonly ManifestLine[]): void {
    if (this.end?.id !== this.head?.id) throw damaged("its manifest is that of another");
    const { sums, needs } = sumUp(lines, this.head?.id);
    const isSummary = Object.entries(sums).every(([name, sum]) => this.end?.[name as keyof Sums] === sum);
    if (!isSummary || [...needs].join() !== this.end?.needs.join())
      throw damaged("the last line of its manifest does not fit the others");
    this.#compareCluster();
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
