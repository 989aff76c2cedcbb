import type { Readable } from "node:stream";

/** What identifies stored content: the SHA-256 of its bytes in lower-case hex, and how many there are. */
export interface Content {
  sha256: string;
  size: number;
}

/** Content that was received completely but is not part of the store yet. One of the two methods ends it. */
export interface StagedContent extends Content {
  /** Its first bytes, for telling what kind of file it is. */
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

/**
 * Where evidence is kept: content under the digest of its bytes, whoever owns it. Who may see what is not its concern.
 */
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
  /** Everything stored, in order of address. */
  list(): AsyncIterable<ListedContent>;
  /** Removes content that nobody refers to. What is not there is fine. */
  remove(sha256: string): Promise<void>;
  /** Tries whether a file can be received. @throws what writing one fails with. */
  probeRoom(): Promise<void>;
  /** Removes what interrupted uploads left more than so many seconds ago. @returns how many there were. */
  removeAbandoned(olderThanSeconds: number): Promise<number>;
}

/** More bytes arrived than are allowed. */
export class ContentTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The content has more than ${maxBytes} bytes`);
    this.name = "ContentTooLarge";
  }
}

/** The store does not have what it should have. */
export class ContentMissing extends Error {
  constructor(sha256: string) {
    super(`Stored content ${sha256} is missing`);
    this.name = "ContentMissing";
  }
}

/** The bytes read are not those that were stored. */
export class ContentDamaged extends Error {
  constructor(sha256: string) {
    super(`Stored content ${sha256} is damaged`);
    this.name = "ContentDamaged";
  }
}

/** The lower-case hex form of a SHA-256. */
export const addressPattern = /^[0-9a-f]{64}$/;
