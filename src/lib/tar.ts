/** Bytes of a block, the unit of an archive. */
export const tarBlock = 512;
/** Largest size of a file: what eleven octal digits hold. */
const largestSize = 8 ** 11 - 1;

/** One file of an archive. */
export interface TarEntry {
  /** Relative path, segments separated by slashes. */
  path: string;
  /** Size in bytes; exactly that of `content`. */
  size: number;
  /** Unix seconds. */
  modified_at: number;
  content: AsyncIterable<Buffer> | Buffer;
}

function octal(value: number, length: number): string {
  return `${Math.floor(value)
    .toString(8)
    .padStart(length - 1, "0")}\0`;
}

export interface TarHeader {
  name: string;
  size: number;
  modified_at: number;
  type: "0" | "x";
}

/** Writes a header block (POSIX.1-2001, ustar). */
export function tarHeader({ name, size, modified_at, type }: TarHeader): Buffer {
  const bytes = Buffer.alloc(tarBlock);
  bytes.write(name, 0, 100, "latin1");
  bytes.write(octal(0o644, 8), 100, "latin1");
  bytes.write(octal(0, 8) + octal(0, 8), 108, "latin1");
  bytes.write(octal(size, 12) + octal(modified_at, 12), 124, "latin1");
  bytes.write(`        ${type}`, 148, "latin1");
  bytes.write("ustar\u000000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${octal(sum, 7)} `, 148, "latin1");
  return bytes;
}

/** Writes a record of a pax header: `length key=value\n`, where the length counts itself. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const size = Buffer.byteLength(rest);
  let length = size + 1;
  while (String(length).length + size !== length) length = String(length).length + size;
  return length + rest;
}

function padding(size: number): Buffer {
  return Buffer.alloc((tarBlock - (size % tarBlock)) % tarBlock);
}

/** Writes the header of a file, after a pax header if its name does not fit the old field. */
function* headers(entry: TarEntry): Generator<Buffer> {
  const { path, size, modified_at } = entry;
  if (size > largestSize) throw new Error(`${path} is too large for an archive`);
  const plain = /^[\x20-\x7e]{1,100}$/.test(path);
  const name = plain ? path : path.replace(/[^\x20-\x7e]/gu, "_").slice(-100);
  if (!plain) {
    const extra = Buffer.from(record("path", path));
    yield tarHeader({ name: "pax-header", size: extra.length, modified_at, type: "x" });
    yield Buffer.concat([extra, padding(extra.length)]);
  }
  yield tarHeader({ name, size, modified_at, type: "0" });
}

/**
 * Writes one file of an archive, piece by piece.
 * @throws Error when it does not have the size it announced: the archive is not valid then.
 */
export async function* tarFile(entry: TarEntry): AsyncGenerator<Buffer> {
  yield* headers(entry);
  let size = 0;
  for await (const piece of Buffer.isBuffer(entry.content) ? [entry.content] : entry.content) {
    size += piece.length;
    yield piece;
  }
  if (size !== entry.size) throw new Error(`${entry.path} has ${size} bytes instead of ${entry.size}`);
  yield padding(size);
}

/** What an archive ends with. */
export const tarEnd = Buffer.alloc(2 * tarBlock);

/**
 * Writes a tar archive, piece by piece, of files in the order they come. Only one piece at a time is in memory.
 * @throws Error when a file does not have the size it announced: the archive is not valid then.
 */
export async function* tarArchive(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) yield* tarFile(entry);
  yield tarEnd;
}
