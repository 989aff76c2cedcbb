import type { Readable } from "node:stream";

import type { UploadedEvidence } from "../contract/endpoint.ts";
import { evidenceContentType, evidenceName } from "../domain/evidence-file.ts";
import { AppError } from "../domain/errors.ts";
import { ContentTooLarge, type EvidenceStore, type StagedContent } from "../evidence/store.ts";
import { isDiskFull } from "../lib/shortage.ts";
import { mebibyte } from "../lib/units.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { shortageOf } from "./shortage.ts";

/** Failures of the disk or the bucket, not of the request. */
const storageFailures = new Set(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EIO", "EMFILE", "ENFILE"]);

function unavailable(cause: unknown): AppError {
  if (isDiskFull(cause))
    return new AppError("unavailable", "The disk of the evidence storage is full, try again later", {
      cause,
    });
  const shortage = shortageOf(cause);
  if (shortage !== undefined) return new AppError("unavailable", `${shortage}, try again later`, { cause });
  return new AppError("unavailable", "The evidence storage is not available, try again", { cause });
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / mebibyte;
  return Number.isInteger(mebibytes) ? `${mebibytes}MB` : `${bytes} bytes`;
}

/** Evidence of one request, received but not kept unless the handler says so. */
export interface EvidenceIntake {
  /** Receives one file while it arrives. @throws AppError too_large, unavailable. */
  receive(file: Readable, filename: string | undefined): Promise<UploadedEvidence>;
  /** Forgets whatever was not kept, once what is being received has come to an end. */
  discard(): Promise<void>;
}

function uploaded(staged: StagedContent, filename: string | undefined): UploadedEvidence {
  const name = evidenceName(filename);
  return {
    filename: name,
    content_type: evidenceContentType(staged.head, name),
    sha256: staged.sha256,
    size: staged.size,
    keep: () =>
      staged.keep().catch((error: unknown) => {
        throw unavailable(error);
      }),
  };
}

async function stage(store: EvidenceStore, file: Readable, maxBytes: number): Promise<StagedContent> {
  try {
    return await store.stage(file, { maxBytes });
  } catch (error) {
    if (error instanceof ContentTooLarge)
      throw new AppError("too_large", `File size exceeds ${sizeText(maxBytes)} limit`);
    if (storageFailures.has((error as NodeJS.ErrnoException).code ?? "")) throw unavailable(error);
    throw error;
  }
}

/** Begins to receive the evidence of one request. */
export function createIntake(deps: Pick<Deps, "evidence" | "config">): EvidenceIntake {
  const all: Promise<StagedContent>[] = [];
  return {
    receive: async (file, filename) => {
      const staging = stage(deps.evidence, file, deps.config.evidence.maxBytes);
      all.push(staging);
      return uploaded(await staging, filename);
    },
    discard: async () => {
      // One that failed has left nothing.
      await Promise.allSettled(all.map(async (staging) => (await staging).discard()));
    },
  };
}
