import { join } from "node:path";

import { createFileStore } from "./files.ts";
import { createS3Store, type S3Settings } from "./s3.ts";
import type { EvidenceStore } from "./store.ts";

/** Settings of the evidence store. */
export interface EvidenceSettings {
  /** Folder of the files; with a bucket, of uploads that are being received. */
  dir: string;
  /** Bytes that one file may have. */
  maxBytes: number;
  /** A bucket to use instead of files. */
  s3: S3Settings | undefined;
}

/** Creates the evidence store of these settings. Touches neither disk nor network until it is used. */
export function createEvidenceStore(settings: EvidenceSettings): EvidenceStore {
  return settings.s3 === undefined
    ? createFileStore(settings.dir)
    : createS3Store(settings.s3, join(settings.dir, "incoming"));
}
