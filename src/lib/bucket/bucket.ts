import { setTimeout as delay } from "node:timers/promises";

import type {
  ListMultipartUploadsCommandOutput,
  ListObjectsV2CommandOutput,
  S3Client,
} from "@aws-sdk/client-s3";

import { sha256InTurns } from "../hash-in-turns.ts";
import {
  attemptsOf,
  connectS3,
  isMissing,
  library,
  type S3Access,
  signWithDigest,
  statusOf,
} from "./client.ts";
import { bucketUrl, type BucketLocation } from "./location.ts";

/** An object of a bucket; `modified_at` in Unix seconds. */
export interface BucketObject {
  key: string;
  bytes: number;
  modified_at: number;
}

/** A request that failed, told in a sentence that names the object and holds no secret. */
export class BucketError extends Error {
  /** As of a file, where there is no such object. */
  readonly code: string | undefined;
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(`${path}: ${reasonOf(cause)}`, { cause });
    this.name = "BucketError";
    this.path = path;
    this.code = isMissing(cause) ? "ENOENT" : (cause as NodeJS.ErrnoException).code;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const status = statusOf(error);
  return status === undefined ? message || name : `${name} (${status})`;
}

/** What is read by one request: a long reading is many of them, so that no connection has to last, nor to wait. */
const blockBytes = 8 * 1024 * 1024;

/** Joining the parts of a large object takes some services so long. */
const completeIdleMs = 15 * 60_000;

/** A block, or a page of a list, comes in less from any service that is of use. */
const standardReadWithinMs = 10 * 60_000;

/** A list that does not go on where it says it does would be taken for complete, or be read without end. */
function requireGoingOn(isTruncated: boolean | undefined, next: string | undefined, present?: string): void {
  if (isTruncated === true && (next === undefined || next === present))
    throw new Error("the service does not say how its list goes on");
}

/** Gathers a body, and no more of it than was asked for: some services answer with all of an object. */
async function gather(body: AsyncIterable<Uint8Array>, length: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop closes the connection.
  for await (const piece of body) {
    pieces.push(piece);
    size += piece.length;
    if (size > length) throw new Error(`${length} bytes were asked for, and more came`);
  }
  if (size < length) throw new Error(`${length} bytes were asked for, ${size} came`);
  return Buffer.concat(pieces, length);
}

/** A part of an object, and the SHA-256 of its bytes in hexadecimal. */
export interface Part {
  number: number;
  bytes: Buffer;
  sha256: string;
  /** Has it sent no further. */
  signal: AbortSignal;
}

/** What has been sent of an object. */
export interface SentPart {
  PartNumber: number;
  ETag: string | undefined;
}

/** The part of a bucket that keys of a prefix are in. Every failure is a `BucketError`. */
export class Bucket {
  readonly #access: S3Access;
  readonly #at: BucketLocation;
  #client: Promise<S3Client> | undefined;
  #patient: Promise<S3Client> | undefined;

  constructor(access: S3Access, at: BucketLocation) {
    this.#access = access;
    this.#at = at;
  }

  /** Its URL. */
  get url(): string {
    return bucketUrl(this.#at);
  }

  /** The part of it below a name. Its connections are shared. */
  below(name: string): Bucket {
    const below = new Bucket(this.#access, { ...this.#at, prefix: `${this.#at.prefix}${name}/` });
    below.#client = this.#open();
    below.#patient = this.#patient;
    return below;
  }

  /** Writes the URL of an object. */
  urlOf(name: string): string {
    return `s3://${this.#at.bucket}/${this.#at.prefix}${name}`;
  }

  #open(): Promise<S3Client> {
    return (this.#client ??= connectS3(this.#access));
  }

  /** What ends a reading that takes too long, with all attempts: a service that sends a byte now and then is never idle. */
  #budget(): AbortSignal {
    return AbortSignal.timeout(this.#access.readWithinMs ?? standardReadWithinMs);
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#at.bucket, Key: this.#at.prefix + name };
  }

  async #told<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof BucketError ? error : new BucketError(this.urlOf(name), error);
    }
  }

  /** Lists what is directly below: objects, and the names that have more below them, in order. */
  async list(): Promise<{ objects: BucketObject[]; folders: string[] }> {
    const { ListObjectsV2Command } = await library();
    const { bucket, prefix } = this.#at;
    const objects: BucketObject[] = [];
    const folders: string[] = [];
    await this.#told("", async () => {
      const asked = { Bucket: bucket, Prefix: prefix, Delimiter: "/" };
      for (let after: string | undefined, isLast = false; !isLast;) {
        const command = new ListObjectsV2Command({ ...asked, ContinuationToken: after });
        const page: ListObjectsV2CommandOutput = await (
          await this.#open()
        ).send(command, {
          abortSignal: this.#budget(),
        });
        for (const { Key = "", Size = 0, LastModified } of page.Contents ?? [])
          if (Key.length > prefix.length)
            objects.push({
              key: Key.slice(prefix.length),
              bytes: Size,
              modified_at: (LastModified?.getTime() ?? Date.now()) / 1000,
            });
        for (const { Prefix = "" } of page.CommonPrefixes ?? [])
          folders.push(Prefix.slice(prefix.length).replace(/\/$/, ""));
        requireGoingOn(page.IsTruncated, page.NextContinuationToken, after);
        isLast = page.IsTruncated !== true;
        after = page.NextContinuationToken;
      }
    });
    return { objects, folders };
  }

  /** Looks an object up; undefined when it is not there. */
  async find(name: string): Promise<(BucketObject & { etag: string | undefined }) | undefined> {
    const { HeadObjectCommand } = await library();
    return this.#told(name, async () => {
      try {
        const found = await (await this.#open()).send(new HeadObjectCommand(this.#object(name)));
        return {
          key: name,
          bytes: found.ContentLength ?? 0,
          modified_at: (found.LastModified?.getTime() ?? Date.now()) / 1000,
          etag: found.ETag,
        };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  /**
   * Reads a part of an object, again where the connection ends before it.
   * @param etag of the object as it has to be still.
   */
  async read(name: string, from: number, length: number, etag?: string): Promise<Buffer> {
    if (length === 0) return Buffer.alloc(0);
    const { GetObjectCommand } = await library();
    const command = { ...this.#object(name), Range: `bytes=${from}-${from + length - 1}`, IfMatch: etag };
    const abortSignal = this.#budget();
    return this.#told(name, async () => {
      for (let attempt = 1; ; attempt += 1)
        try {
          const { Body } = await (await this.#open()).send(new GetObjectCommand(command), { abortSignal });
          return await gather((Body ?? []) as AsyncIterable<Uint8Array>, length);
        } catch (error) {
          // The library tries again what was not answered, not what was cut off while it was.
          const isLast = attempt >= attemptsOf(this.#access) || abortSignal.aborted;
          if (isLast || statusOf(error) !== undefined) throw error;
          await delay(100 * 2 ** attempt);
        }
    });
  }

  /** Reads an object from its beginning to its end, with two pieces in memory. */
  async *stream(name: string): AsyncGenerator<Buffer> {
    const found = await this.find(name);
    if (found === undefined)
      throw new BucketError(this.urlOf(name), Object.assign(new Error("is not there"), missing));
    const { bytes, etag } = found;
    const readAt = (from: number): Promise<Buffer> => {
      const block = this.read(name, from, Math.min(blockBytes, bytes - from), etag);
      block.catch(() => {});
      return block;
    };
    for (let from = 0, next = readAt(0); from < bytes;) {
      const block = await next;
      from += block.length;
      if (from < bytes) next = readAt(from);
      yield block;
    }
  }

  /** Puts an object there unless there is one. @returns whether it did. */
  async putNew(name: string, bytes: Buffer): Promise<boolean> {
    const { PutObjectCommand } = await library();
    // Some megabytes: the library would hash them in one go.
    const sha256 = (await sha256InTurns([bytes])).toString("hex");
    const put = async (condition: { IfNoneMatch?: string }): Promise<void> => {
      const asked = { ...this.#object(name), Body: bytes, ContentLength: bytes.length, ...condition };
      const command = new PutObjectCommand(asked);
      signWithDigest(command, sha256);
      await (await this.#open()).send(command);
    };
    return this.#told(name, async () => {
      // Some services know no conditions, and say so or not.
      if ((await this.find(name)) !== undefined) return false;
      try {
        await put({ IfNoneMatch: "*" });
        return true;
      } catch (error) {
        if (statusOf(error) === 412) return false;
        if (statusOf(error) !== 501) throw error;
      }
      await put({});
      return true;
    });
  }

  /** Removes an object, if it is there. */
  async remove(name: string): Promise<void> {
    const { DeleteObjectCommand } = await library();
    await this.#told(name, async () => {
      await (await this.#open()).send(new DeleteObjectCommand(this.#object(name)));
    });
  }

  /** Begins an object that comes in parts, and is not there before `completeUpload`. @returns the id of the upload. */
  async beginUpload(name: string): Promise<string> {
    const { CreateMultipartUploadCommand } = await library();
    return this.#told(name, async () => {
      const { UploadId } = await (
        await this.#open()
      ).send(
        new CreateMultipartUploadCommand({
          ...this.#object(name),
          ContentType: "application/octet-stream",
        }),
      );
      if (UploadId === undefined) throw new Error("the service began no upload");
      return UploadId;
    });
  }

  /** Sends a part. The service compares it with its digest, which is part of the signature. */
  async sendPart(name: string, upload: string, { number, bytes, sha256, signal }: Part): Promise<SentPart> {
    const { UploadPartCommand } = await library();
    const command = new UploadPartCommand({
      ...this.#object(name),
      UploadId: upload,
      PartNumber: number,
      Body: bytes,
      ContentLength: bytes.length,
    });
    signWithDigest(command, sha256);
    return this.#told(name, async () => {
      const { ETag } = await (await this.#open()).send(command, { abortSignal: signal });
      return { PartNumber: number, ETag };
    });
  }

  /** Makes an object of its parts, and looks whether it is there with all its bytes. */
  async completeUpload(name: string, upload: string, parts: SentPart[], bytes: number): Promise<void> {
    const { CompleteMultipartUploadCommand } = await library();
    this.#patient ??= connectS3(this.#access, completeIdleMs);
    const command = { ...this.#object(name), UploadId: upload, MultipartUpload: { Parts: parts } };
    await this.#told(name, async () => {
      let failure: unknown;
      try {
        await (await this.#patient)?.send(new CompleteMultipartUploadCommand(command));
      } catch (error) {
        // The answer may have been lost after the work was done.
        failure = error;
      }
      const found = await this.find(name);
      if (found?.bytes === bytes) return;
      throw failure ?? new Error(`${bytes} bytes were sent, and ${found?.bytes ?? 0} are there`);
    });
  }

  /** Forgets the parts of an upload. */
  async abortUpload(name: string, upload: string): Promise<void> {
    const { AbortMultipartUploadCommand } = await library();
    await this.#told(name, async () => {
      try {
        await (
          await this.#open()
        ).send(new AbortMultipartUploadCommand({ ...this.#object(name), UploadId: upload }));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    });
  }

  /** Lists uploads that were begun and not completed; `begun_at` in Unix seconds. */
  async listUploads(): Promise<{ name: string; upload: string; begun_at: number }[]> {
    const { ListMultipartUploadsCommand } = await library();
    const { bucket, prefix } = this.#at;
    const found: { name: string; upload: string; begun_at: number }[] = [];
    return this.#told("", async () => {
      let after: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
      while (after !== undefined) {
        const page: ListMultipartUploadsCommandOutput = await (
          await this.#open()
        ).send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...after }), {
          abortSignal: this.#budget(),
        });
        for (const { Key = "", UploadId, Initiated } of page.Uploads ?? [])
          if (UploadId !== undefined && Key.startsWith(prefix))
            found.push({
              name: Key.slice(prefix.length),
              upload: UploadId,
              begun_at: (Initiated?.getTime() ?? Date.now()) / 1000,
            });
        const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
        const isSame = KeyMarker === after.KeyMarker && UploadIdMarker === after.UploadIdMarker;
        requireGoingOn(page.IsTruncated, KeyMarker, isSame ? KeyMarker : undefined);
        after = page.IsTruncated === true ? { KeyMarker, UploadIdMarker } : undefined;
      }
      return found;
    });
  }
}

const missing = { $metadata: { httpStatusCode: 404 }, name: "NoSuchKey" };
