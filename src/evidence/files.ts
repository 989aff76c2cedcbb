import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { flush } from "../lib/flush.ts";
import { writeSecretFile } from "../lib/secret-file.ts";
import { probeStaging, removeStale, stageContent, type StagedFile } from "./staging.ts";
import {
  addressPattern,
  ContentMissing,
  type EvidenceStore,
  type ListedContent,
  markName,
  type StagedContent,
  type StoreMark,
} from "./store.ts";
import { verifiedStream } from "./verify.ts";

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Lists the entries of a folder, sorted; none when it does not exist. */
async function entriesOf(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Makes the mark that is a file. */
function markIn(root: string): StoreMark {
  const place = join(root, markName);
  return {
    place,
    read: () =>
      readFile(place, "utf8").then(
        (text) => text.trim(),
        (error: unknown) => {
          if (isMissing(error)) return undefined;
          throw error;
        },
      ),
    write: (mark) => writeSecretFile(place, `${mark}\n`),
  };
}

class FileStore implements EvidenceStore {
  readonly mark: StoreMark;
  readonly #root: string;
  readonly #incoming: string;
  /** Folders that this process has flushed to the disk. */
  readonly #durable = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    this.#incoming = join(root, "incoming");
    this.mark = markIn(root);
  }

  #folder(sha256: string): string {
    if (!addressPattern.test(sha256)) throw new Error("not an address of content");
    return join(this.#root, sha256.slice(0, 2));
  }

  #path(sha256: string): string {
    return join(this.#folder(sha256), sha256);
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#durable.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Also when somebody else has just made it: whether they have flushed it is not known here.
    await flush(this.#root);
    this.#durable.add(folder);
  }

  /**
   * Moves a file to its address, replacing what may be there: the content is the same, and undamaged. Its new time also
   * keeps the removal of orphans away from it.
   */
  async #keep(file: StagedFile): Promise<void> {
    const folder = this.#folder(file.sha256);
    await flush(file.path);
    await this.#makeFolder(folder);
    await rename(file.path, this.#path(file.sha256));
    await flush(folder);
  }

  stage(source: Readable, { maxBytes }: { maxBytes: number }): Promise<StagedContent> {
    return stageContent(this.#incoming, { source, maxBytes }, (file) => this.#keep(file));
  }

  async open(sha256: string): Promise<Readable> {
    try {
      const handle = await open(this.#path(sha256), "r");
      return verifiedStream(createReadStream("", { fd: handle }), sha256);
    } catch (error) {
      throw isMissing(error) ? new ContentMissing(sha256) : error;
    }
  }

  async has(sha256: string): Promise<boolean> {
    return stat(this.#path(sha256)).then(
      (found) => found.isFile(),
      (error: unknown) => {
        if (isMissing(error)) return false;
        throw error;
      },
    );
  }

  async *list(after = ""): AsyncGenerator<ListedContent> {
    const isShard = (name: string): boolean => /^[0-9a-f]{2}$/.test(name) && name >= after.slice(0, 2);
    for (const shard of (await entriesOf(this.#root)).filter(isShard))
      for (const sha256 of await entriesOf(join(this.#root, shard))) {
        if (!addressPattern.test(sha256) || sha256 <= after) continue;
        const found = await stat(this.#path(sha256)).catch(() => undefined);
        if (found !== undefined) yield { sha256, size: found.size, modified_at: found.mtimeMs / 1000 };
      }
  }

  async remove(sha256: string): Promise<void> {
    await rm(this.#path(sha256), { force: true });
  }

  probeRoom(): Promise<void> {
    return probeStaging(this.#incoming);
  }

  removeAbandoned(olderThanSeconds: number): Promise<number> {
    return removeStale(this.#incoming, olderThanSeconds);
  }
}

/**
 * Creates a store that keeps evidence as files: `<root>/<first two digits>/<sha256>`. An upload is written beside them,
 * flushed, renamed to its address, and the folder flushed, so a file that has an address is complete.
 */
export function createFileStore(root: string): EvidenceStore {
  return new FileStore(root);
}
