import type { Readable } from "node:stream";

/** Stored content: the SHA-256 of its bytes in lower-case hex, which is its address, and its size in bytes. */
export interface Content {
  sha256: string;
  size: number;
}

/** Content that was received completely but is not part of the store yet. End it by one of the two methods. */
export interface StagedContent extends Content {
  /** Its first bytes, to recognise the kind of file. */
  head: Buffer;
  /**
   * Makes it durable under its address; once this has returned no crash loses it. Content that is there already is
   * stored once. Calling it again does nothing.
   */
  keep(): Promise<void>;
  /** Forgets it, unless it was kept. Never fails. */
  discard(): Promise<void>;
}

/** Content as the store lists it; `modified_at` in Unix seconds is when it was last kept. */
export interface ListedContent extends Content {
  modified_at: number;
}

/** Says whose evidence a store has. It stands beside the content, for all servers that share the store. */
export interface StoreMark {
  /** Where it stands, for who runs the installation: a file, or an object of a bucket. */
  place: string;
  /** @returns undefined where nobody has written one yet. */
  read(): Promise<string | undefined>;
  /** Writes it, so that it survives a crash. */
  write(mark: string): Promise<void>;
}

/** A store of evidence: content under the digest of its bytes, whoever owns it. Access is not its concern. */
export interface EvidenceStore {
  /**
   * Receives a stream without holding more than a piece of it in memory.
   * @throws ContentTooLarge past `maxBytes`; whatever the stream fails with. Nothing is left behind then.
   */
  stage(source: Readable, limits: { maxBytes: number }): Promise<StagedContent>;
  /**
   * Opens content for reading. The stream fails with `ContentDamaged` before its last bytes are given out when they
   * are not what was stored.
   * @throws ContentMissing
   */
  open(sha256: string): Promise<Readable>;
  has(sha256: string): Promise<boolean>;
  /** Lists everything stored, in order of address. @param after an address; what stands up to it is left out. */
  list(after?: string): AsyncIterable<ListedContent>;
  /** Removes content that nobody refers to, if it is there. */
  remove(sha256: string): Promise<void>;
  readonly mark: StoreMark;
  /** Checks that there is room to receive a file. @throws what writing one fails with. */
  probeRoom(): Promise<void>;
  /** Removes what interrupted uploads left more than so many seconds ago. @returns how many there were. */
  removeAbandoned(olderThanSeconds: number): Promise<number>;
}

/** The failure of an upload with more bytes than allowed. */
export class ContentTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The content has more than ${maxBytes} bytes`);
    this.name = "ContentTooLarge";
  }
}

/** The failure to find content that the store should have. */
export class ContentMissing extends Error {
  constructor(sha256: string) {
    super(`Stored content ${sha256} is missing`);
    this.name = "ContentMissing";
  }
}

/** The failure of a read whose bytes are not those that were stored. */
export class ContentDamaged extends Error {
  constructor(sha256: string) {
    super(`Stored content ${sha256} is damaged`);
    this.name = "ContentDamaged";
  }
}

/** Name of the mark beside the content. */
export const markName = "waybill-evidence";

/** The lower-case hex form of a SHA-256. */
export const addressPattern = /^[0-9a-f]{64}$/;
