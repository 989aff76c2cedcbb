import { open } from "node:fs/promises";

/** The end of a file. */
interface Tail {
  text: string;
  /** Bytes of the file before it. */
  before: number;
}

/**
 * Reads at most so many bytes of the end of a file, from the beginning of a line on, whoever goes on writing it.
 * @throws what opening and reading it fails with; Error for what is no file.
 */
export async function readTail(path: string, mostBytes: number): Promise<Tail> {
  const file = await open(path, "r");
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${path} is no file`);
    const from = Math.max(0, found.size - mostBytes);
    const bytes = Buffer.alloc(found.size - from);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, from + length);
      length += bytesRead;
      if (bytesRead === 0 || length === bytes.length) break;
    }
    const read = bytes.subarray(0, length);
    const begin = from === 0 ? 0 : read.indexOf("\n") + 1;
    return { text: read.toString("utf8", begin), before: from + begin };
  } finally {
    await file.close();
  }
}
