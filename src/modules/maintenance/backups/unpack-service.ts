import { mkdir, open } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { PassThrough } from "node:stream";

import { DamagedArchive, type ForeignMember, readForeignTar } from "../../../lib/tar-reader.ts";

/** Takes the tar of PostgreSQL's files piece by piece. */
export interface Unpacking {
  /** Takes the next piece. Fails as soon as unpacking does. */
  add(bytes: Buffer, isLast: boolean): Promise<void>;
  /** Gives up. */
  stop(): void;
}

/** Allows for what is in a data directory of PostgreSQL, and nowhere else. */
function checkedPath(path: string): string {
  const parts = path.replace(/^\.\//, "").replace(/\/$/, "").split("/");
  if (path.startsWith("/") || parts.some((part) => part === "" || part === "..") || path.includes("\0"))
    throw new DamagedArchive(`The backup has a file in a place where none belongs: ${JSON.stringify(path)}`);
  return parts.join("/");
}

async function unpackOne(folder: string, { path, isFolder, mode, content }: ForeignMember): Promise<void> {
  const target = join(folder, checkedPath(path));
  if (isFolder) {
    await mkdir(target, { recursive: true, mode: 0o700 });
    return;
  }
  const file = await open(target, "wx", mode & 0o700);
  try {
    for await (const piece of content)
      for (let done = 0; done < piece.length;) done += (await file.write(piece, done)).bytesWritten;
  } finally {
    await file.close();
  }
}

/** Begins to unpack the tar of PostgreSQL's files into a folder that is there and empty. */
export function unpackInto(folder: string): Unpacking {
  const input = new PassThrough({ highWaterMark: 2 * 1024 * 1024 });
  async function unpack(): Promise<void> {
    for await (const member of readForeignTar(input))
      if (member.path !== "./") await unpackOne(folder, member);
  }
  const unpacking = unpack();
  // Shows where it is waited for.
  unpacking.catch(() => {});
  input.on("error", () => {});
  return {
    add: async (bytes, isLast) => {
      if (!input.write(bytes)) await Promise.race([once(input, "drain"), unpacking]);
      if (!isLast) return;
      input.end();
      await unpacking;
    },
    stop: () => input.destroy(),
  };
}
