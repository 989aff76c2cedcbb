import type { S3Client, S3ServiceException } from "@aws-sdk/client-s3";

import { silentLog } from "../log.ts";

/** How a service that speaks the S3 protocol is reached, and as whom. */
export interface S3Access {
  /** Base URL of the service; undefined for the region's own. */
  endpoint: string | undefined;
  region: string;
  accessKey: string;
  secretKey: string;
  /** How often a request is sent while the service is busy or not reached; 3 when left out. */
  attempts?: number;
  /** How long reading a block or a page of a list may take, with all attempts, in milliseconds; ten minutes when left out. */
  readWithinMs?: number;
}

/** Loads the client library, which takes a while: only those with a bucket wait for it. */
export const library = () => import("@aws-sdk/client-s3");

const standardAttempts = 3;
const connectTimeoutMs = 5_000;
const standardIdleMs = 30_000;

/** Tells how often a request is sent. */
export const attemptsOf = ({ attempts }: S3Access): number => attempts ?? standardAttempts;

/** Connects to a service. @param idleMs how long it may say nothing. */
export async function connectS3(access: S3Access, idleMs = standardIdleMs): Promise<S3Client> {
  const { S3Client } = await library();
  const { endpoint, region, accessKey, secretKey } = access;
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    // Older compatible services do not know the checksums that newer clients add by themselves.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: attemptsOf(access),
    // What goes wrong is thrown; the library would write some of it to standard error as well.
    logger: silentLog,
    requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: idleMs },
  });
}

/** What a request is before it is sent, as far as it is changed here. */
interface Command {
  middlewareStack: {
    add(
      middleware: (next: (args: Args) => Promise<never>) => (args: Args) => Promise<never>,
      options: { step: "build" },
    ): void;
  };
}

interface Args {
  request: unknown;
  input: never;
}

/** Has a request be signed with a digest (SHA-256, in hexadecimal) of its body that is known, which services compare. */
export function signWithDigest(command: unknown, sha256: string): void {
  (command as Command).middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers["x-amz-content-sha256"] = sha256;
      return next(args);
    },
    { step: "build" },
  );
}

/** Reads the HTTP status that a request failed with; undefined when it was not answered. */
export function statusOf(error: unknown): number | undefined {
  return (error as Partial<S3ServiceException>).$metadata?.httpStatusCode;
}

/** Says whether an object is missing. When the bucket itself is, nothing is known of the object. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && (error as Error).name !== "NoSuchBucket";
}

/** Says whether asking again may help: the service is busy or was not reached. */
export function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined || status >= 500 || status === 429 || status === 408;
}
