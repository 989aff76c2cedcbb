import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

import type { S3Client } from "@aws-sdk/client-s3";

import {
  connectS3,
  isMissing,
  isPassing,
  library,
  type S3Access,
  signWithDigest,
} from "../lib/bucket/client.ts";
import { sha256 } from "../lib/hash.ts";
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

/** A bucket of an S3-compatible service. */
export interface S3Settings extends S3Access {
  bucket: string;
  /** Put before every key, as it is. */
  prefix: string;
}

const attempts = 3;

class S3Store implements EvidenceStore {
  readonly mark: StoreMark;
  readonly #settings: S3Settings;
  readonly #staging: string;
  #client: Promise<S3Client> | undefined;

  constructor(settings: S3Settings, staging: string) {
    this.#settings = settings;
    this.#staging = staging;
    const { bucket, prefix } = settings;
    this.mark = {
      place: `${prefix}${markName} in bucket ${bucket}`,
      read: () => this.#readMark(),
      write: (mark) => this.#writeMark(mark),
    };
  }

  #markObject(): { Bucket: string; Key: string } {
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + markName };
  }

  async #readMark(): Promise<string | undefined> {
    const { GetObjectCommand } = await library();
    try {
      const { Body } = await (await this.#open()).send(new GetObjectCommand(this.#markObject()));
      return (await Body?.transformToString())?.trim();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #writeMark(mark: string): Promise<void> {
    const { PutObjectCommand } = await library();
    const Body = `${mark}\n`;
    const ChecksumSHA256 = sha256(Body).toString("base64");
    await (await this.#open()).send(new PutObjectCommand({ ...this.#markObject(), Body, ChecksumSHA256 }));
  }

  #open(): Promise<S3Client> {
    return (this.#client ??= connectS3(this.#settings));
  }

  #object(sha256: string): { Bucket: string; Key: string } {
    if (!addressPattern.test(sha256)) throw new Error("not an address of content");
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + sha256 };
  }

  async #put(file: StagedFile): Promise<void> {
    const { PutObjectCommand } = await library();
    const command = new PutObjectCommand({
      ...this.#object(file.sha256),
      Body: createReadStream(file.path),
      ContentLength: file.size,
      ContentType: "application/octet-stream",
      // The service compares what it got with this before it stores anything.
      ChecksumSHA256: Buffer.from(file.sha256, "hex").toString("base64"),
    });
    // The digest as part of the signature: services that do not know the checksum header verify this one.
    signWithDigest(command, file.sha256);
    await (await this.#open()).send(command);
  }

  /** Uploads a file, with retries. The client library cannot send a stream twice, so each try opens the file anew. */
  async #keep(file: StagedFile): Promise<void> {
    for (let attempt = 1; ; attempt += 1)
      try {
        await this.#put(file);
        break;
      } catch (error) {
        if (attempt === attempts || !isPassing(error)) throw error;
        await delay(100 * 4 ** attempt);
      }
    await rm(file.path, { force: true });
  }

  stage(source: Readable, { maxBytes }: { maxBytes: number }): Promise<StagedContent> {
    return stageContent(this.#staging, { source, maxBytes }, (file) => this.#keep(file));
  }

  async open(sha256: string): Promise<Readable> {
    const { GetObjectCommand } = await library();
    try {
      const { Body } = await (await this.#open()).send(new GetObjectCommand(this.#object(sha256)));
      return verifiedStream(Body as Readable, sha256);
    } catch (error) {
      throw isMissing(error) ? new ContentMissing(sha256) : error;
    }
  }

  async has(sha256: string): Promise<boolean> {
    const { HeadObjectCommand } = await library();
    try {
      await (await this.#open()).send(new HeadObjectCommand(this.#object(sha256)));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async *list(after = ""): AsyncGenerator<ListedContent> {
    const { paginateListObjectsV2 } = await library();
    const { bucket, prefix } = this.#settings;
    const pages = paginateListObjectsV2(
      { client: await this.#open() },
      { Bucket: bucket, Prefix: prefix, ...(after === "" ? {} : { StartAfter: `${prefix}${after}` }) },
    );
    for await (const page of pages)
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        const sha256 = Key?.slice(prefix.length) ?? "";
        if (addressPattern.test(sha256))
          yield { sha256, size: Size ?? 0, modified_at: (LastModified?.getTime() ?? Date.now()) / 1000 };
      }
  }

  async remove(sha256: string): Promise<void> {
    const { DeleteObjectCommand } = await library();
    await (await this.#open()).send(new DeleteObjectCommand(this.#object(sha256)));
  }

  probeRoom(): Promise<void> {
    return probeStaging(this.#staging);
  }

  removeAbandoned(olderThanSeconds: number): Promise<number> {
    return removeStale(this.#staging, olderThanSeconds);
  }
}

/**
 * Creates a store that keeps evidence in a bucket, under `<prefix><sha256>`. Uploads are received into files of
 * `staging` first, because their address is known only at their end. Content that is there already is written again,
 * which makes it the newest.
 */
export function createS3Store(settings: S3Settings, staging: string): EvidenceStore {
  return new S3Store(settings, staging);
}
