import { existsSync } from "node:fs";
import { Readable } from "node:stream";

import { createFileStore } from "../../../evidence/files.ts";
import { createS3Store } from "../../../evidence/s3.ts";
import { ContentMissing, type EvidenceStore } from "../../../evidence/store.ts";
import { verifiedStream } from "../../../evidence/verify.ts";
import { encryptedSuffix } from "../../../domain/backups.ts";
import type { S3Access } from "../../../lib/bucket/client.ts";
import { parseBucketUrl } from "../../../lib/bucket/location.ts";
import { type Identities, openEncrypted, openEncryptedSink } from "../backups/encryption-service.ts";
import type { Place } from "../backups/place-service.ts";

/** Where contents of evidence are in an archive. */
export interface EvidenceArchive {
  has(sha256: string): Promise<boolean>;
  /** Copies a content from a store. @throws ContentMissing and ContentDamaged where that has not got it. */
  copy(sha256: string, from: Pick<EvidenceStore, "open">): Promise<void>;
}

/** Below the root of an archive: contents as a store keeps them, and those that are encrypted. */
const plainFolder = "evidence";
const sealedFolder = "evidence-encrypted";

/** Opens the store of contents that are not encrypted; undefined where there is no such folder. */
export function openPlainEvidence(
  root: Place,
  { s3, staging }: { s3: S3Access | undefined; staging: string },
): EvidenceStore | undefined {
  const at = parseBucketUrl(root.path);
  const place = root.below(plainFolder);
  if (at !== undefined && s3 !== undefined)
    return createS3Store({ ...s3, bucket: at.bucket, prefix: `${at.prefix}${plainFolder}/` }, staging);
  return existsSync(place.path) ? createFileStore(place.path) : undefined;
}

/** Opens a content for some work, and closes it whatever comes of that: what could not be begun has read nothing. */
async function withContent(
  from: Pick<EvidenceStore, "open">,
  sha256: string,
  work: (content: Readable) => Promise<void>,
): Promise<void> {
  const content = await from.open(sha256);
  try {
    await work(content);
  } finally {
    content.destroy();
  }
}

/** Keeps contents as they are. */
export function plainEvidence(store: EvidenceStore): EvidenceArchive {
  return {
    has: (sha256) => store.has(sha256),
    copy: (sha256, from) =>
      withContent(from, sha256, async (content) => {
        const staged = await store.stage(content, { maxBytes: Number.MAX_SAFE_INTEGER });
        try {
          await staged.keep();
        } finally {
          await staged.discard();
        }
      }),
  };
}

/** Keeps contents encrypted, by the digest of what they are in clear. */
export function sealedEvidence(root: Place, recipients: readonly string[]): EvidenceArchive {
  const place = root.below(sealedFolder);
  return {
    has: async (sha256) => (await place.find(sha256 + encryptedSuffix)) !== undefined,
    copy: (sha256, from) =>
      withContent(from, sha256, async (content) => {
        await place.prepare();
        const sink = await openEncryptedSink(() => place.create(sha256 + encryptedSuffix), recipients);
        try {
          for await (const piece of content) await sink.write(piece as Buffer);
          await sink.finish();
        } catch (error) {
          await sink.abandon();
          throw error;
        }
      }),
  };
}

/** Reads contents of an archive, whichever way they are there. @throws by `open`: ContentMissing and ContentDamaged. */
export function readEvidenceArchive(
  root: Place,
  options: { s3: S3Access | undefined; staging: string; identities: Identities },
): Pick<EvidenceStore, "open"> {
  const plain = openPlainEvidence(root, options);
  const sealed = root.below(sealedFolder);
  return {
    open: async (sha256) => {
      if ((await plain?.has(sha256)) === true && plain !== undefined) return plain.open(sha256);
      const name = sha256 + encryptedSuffix;
      if ((await sealed.find(name)) === undefined) throw new ContentMissing(sha256);
      return verifiedStream(
        Readable.from(openEncrypted({ place: sealed, name }, options.identities)),
        sha256,
      );
    },
  };
}
