import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

import type { S3Client, S3ServiceException } from "@aws-sdk/client-s3";

import { silentLog } from "../lib/log.ts";
import { probeStaging, removeStale, stageContent, type StagedFile } from "./staging.ts";
import {
  addressPattern,
  ContentMissing,
  type EvidenceStore,
  type ListedContent,
  type StagedContent,
} from "./store.ts";
import { verifiedStream } from "./verify.ts";

/** A bucket of an S3-compatible service. */
export interface S3Settings {
  /** Base URL of the service; undefined for the region's own. */
  endpoint: string | undefined;
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
  /** Put before every key, as it is. */
  prefix: string;
}

/** Loads the client library, which takes a while: only servers with a bucket wait for it. */
const library = () => import("@aws-sdk/client-s3");

const attempts = 3;
const connectTimeoutMs = 5_000;
const idleTimeoutMs = 30_000;

function statusOf(error: unknown): number | undefined {
  return (error as Partial<S3ServiceException>).$metadata?.httpStatusCode;
}

/** Says whether an object is missing. When the bucket itself is, nothing is known of the object. */
function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && (error as Error).name !== "NoSuchBucket";
}

/** Says whether asking again may help: the service is busy or was not reached. */
function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined || status >= 500 || status === 429 || status === 408;
}

class S3Store implements EvidenceStore {
  readonly #settings: S3Settings;
  readonly #staging: string;
  #client: Promise<S3Client> | undefined;

  constructor(settings: S3Settings, staging: string) {
    this.#settings = settings;
    this.#staging = staging;
  }

  async #connect(): Promise<S3Client> {
    const { S3Client } = await library();
    const { endpoint, region, accessKey, secretKey } = this.#settings;
    return new S3Client({
      region,
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
      // Older compatible services do not know the checksums that newer clients add by themselves.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      maxAttempts: attempts,
      // What goes wrong is thrown; the library would write some of it to standard error as well.
      logger: silentLog,
      requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: idleTimeoutMs },
    });
  }

  #open(): Promise<S3Client> {
    return (this.#client ??= this.#connect());
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
    command.middlewareStack.add(
      (next) => (args) => {
        (args.request as { headers: Record<string, string> }).headers["x-amz-content-sha256"] = file.sha256;
        return next(args);
      },
      { step: "build" },
    );
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

  async *list(): AsyncGenerator<ListedContent> {
    const { paginateListObjectsV2 } = await library();
    const { bucket, prefix } = this.#settings;
    const pages = paginateListObjectsV2({ client: await this.#open() }, { Bucket: bucket, Prefix: prefix });
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
