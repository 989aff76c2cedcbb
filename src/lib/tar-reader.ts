import { createHash } from "node:crypto";

import { tarBlock, tarHeader } from "./tar.ts";

/** The failure of an archive that is not as it was written, or not all of it. */
export class DamagedArchive extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DamagedArchive";
  }
}

/** One file of an archive that is being read. */
export interface TarMember {
  path: string;
  size: number;
  /** Computes the SHA-256, in lower-case hex, of all bytes of the archive before this file. To be asked before `content`. */
  digestBefore(): string;
  /** Its bytes, once. What is not taken is passed over. */
  content: AsyncIterable<Buffer>;
}

/** Takes bytes off a stream, in lengths that somebody else decides. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Takes at most so many bytes; none at the end. */
  async some(most: number): Promise<Buffer> {
    while (this.#held.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return this.#held;
      this.#held = next.value;
    }
    const taken = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }

  /** Takes a block. @throws DamagedArchive when there is not so much left. */
  async block(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = tarBlock; left > 0;) {
      const piece = await this.some(left);
      if (piece.length === 0) throw new DamagedArchive("The archive ends too early");
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** Closes the source. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

/** Reads a header, and compares it with the one that is written for such a file. */
function readHeader(block: Buffer): { path: string; size: number } {
  const text = (from: number, length: number): string =>
    (block.toString("latin1", from, from + length).split("\0", 1)[0] ?? "").trim();
  const path = text(0, 100);
  const size = Number.parseInt(text(124, 12), 8);
  const modified_at = Number.parseInt(text(136, 12), 8);
  const isPlain = path !== "" && size >= 0 && modified_at >= 0;
  if (!isPlain || !tarHeader({ name: path, size, modified_at, type: "0" }).equals(block))
    throw new DamagedArchive("The header of a file in the archive is damaged");
  return { path, size };
}

/** A file or folder of an archive that another program wrote. */
export interface ForeignMember extends TarMember {
  isFolder: boolean;
  /** Permissions of owner, group and others. */
  mode: number;
}

/** Reads the header of a plain file or folder (POSIX.1-1988, ustar). */
function readForeignHeader(block: Buffer): Pick<ForeignMember, "path" | "size" | "isFolder" | "mode"> {
  const text = (from: number, length: number): string =>
    block.toString("utf8", from, from + length).split("\0", 1)[0] ?? "";
  const number = (from: number, length: number): number => Number.parseInt(text(from, length).trim(), 8);
  const [prefix, name, type] = [text(345, 155), text(0, 100), text(156, 1)];
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  const [size, mode] = [number(124, 12), number(100, 8)];
  if (number(148, 8) !== sum || Number.isNaN(size) || Number.isNaN(mode))
    throw new DamagedArchive("The header of a file in the archive is damaged");
  const path = prefix === "" ? name : `${prefix}/${name}`;
  if (!["", "0", "5"].includes(type))
    throw new DamagedArchive(`The archive has ${path}, which is no plain file or folder`);
  return { path, size, isFolder: type === "5", mode: mode & 0o777 };
}

/**
 * Reads an archive that was written by `tarArchive` of files with short names in plain ASCII, one file after the other. Every
 * byte that is no content has to be as it was written, the end and what lies between files included.
 * @throws DamagedArchive
 */
export function readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  return readMembers(source, readHeader);
}

/**
 * Reads an archive of plain files and folders that another program wrote, with the shortest end that there may be.
 * @throws DamagedArchive
 */
export function readForeignTar(source: AsyncIterable<Buffer>): AsyncGenerator<ForeignMember> {
  return readMembers(source, readForeignHeader);
}

async function* readMembers<Header extends { path: string; size: number }>(
  source: AsyncIterable<Buffer>,
  parse: (block: Buffer) => Header,
): AsyncGenerator<Header & TarMember> {
  const bytes = new Bytes(source);
  const hash = createHash("sha256");
  const take = async (most: number): Promise<Buffer> => {
    const piece = await bytes.some(most);
    if (piece.length === 0) throw new DamagedArchive("The archive ends too early");
    hash.update(piece);
    return piece;
  };
  try {
    for (let block = await bytes.block(); !isZero(block); block = await bytes.block()) {
      const parsed = parse(block);
      const { size } = parsed;
      let header: Buffer | undefined = block;
      let left = size;
      const next = async (): Promise<Buffer> => {
        if (header !== undefined) hash.update(header);
        header = undefined;
        const piece = left === 0 ? Buffer.alloc(0) : await take(left);
        left -= piece.length;
        return piece;
      };
      async function* content(): AsyncGenerator<Buffer> {
        for (let piece = await next(); piece.length > 0; piece = await next()) yield piece;
      }
      yield { ...parsed, digestBefore: () => hash.copy().digest("hex"), content: content() };
      while ((await next()).length > 0);
      for (let rest = (tarBlock - (size % tarBlock)) % tarBlock; rest > 0;) {
        const filling = await take(rest);
        if (!isZero(filling)) throw new DamagedArchive("What lies between files of the archive is damaged");
        rest -= filling.length;
      }
    }
    if (!isZero(await bytes.block()) || (await bytes.some(1)).length > 0)
      throw new DamagedArchive("The end of the archive is damaged");
  } finally {
    await bytes.close();
  }
}
