import type { Readable } from "node:stream";

import type { UploadedEvidence } from "../../../contract/endpoint.ts";
import type { Executor, Tx } from "../../../db/connect.ts";
import { attachmentDisposition } from "../../../domain/evidence-file.ts";
import { AppError, notFound } from "../../../domain/errors.ts";
import { ContentMissing } from "../../../evidence/store.ts";
import { present } from "../../../lib/present.ts";
import type { Deps } from "../../kernel/deps.ts";
import {
  type EvidenceFile,
  findEvidence,
  insertEvidence,
  listEvidenceByContent,
  lockContents,
} from "./store.ts";

export type { EvidenceFile } from "./store.ts";

function keyOf(file: { sha256: string; filename: string }): string {
  return `${file.sha256} ${file.filename}`;
}

/** Leaves out repeated files, and sorts them in an order that all writers share. */
function distinct(uploads: readonly UploadedEvidence[]): UploadedEvidence[] {
  const byKey = new Map(uploads.map((upload) => [keyOf(upload), upload]));
  return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, upload]) => upload);
}

function unavailable(cause?: unknown): AppError {
  return new AppError("unavailable", "The evidence storage is not available, try again", { cause });
}

/**
 * Makes sure that no content was removed as an orphan just before its row is written.
 * @throws AppError unavailable when one was, or the storage cannot be reached; sending it again helps.
 */
async function checkStored(deps: Pick<Deps, "evidence">, sha256s: readonly string[]): Promise<void> {
  const there = await Promise.all(sha256s.map((sha256) => deps.evidence.has(sha256))).catch(
    (error: unknown) => {
      throw unavailable(error);
    },
  );
  if (there.includes(false)) throw unavailable();
}

/**
 * Records in the caller's transaction that the organization has these files. Call `keep()` of each before the
 * transaction begins: rows come after bytes, so that a crash leaves at most bytes without a row. The same bytes under the
 * same name are one file, however often they are sent.
 * @returns for each upload its file, in the same order.
 * @throws AppError unavailable when content vanished meanwhile.
 */
export async function storeEvidence(
  deps: Pick<Deps, "evidence" | "ids" | "clock">,
  tx: Tx,
  orgId: string,
  uploads: readonly UploadedEvidence[],
): Promise<EvidenceFile[]> {
  if (uploads.length === 0) return [];
  const files = distinct(uploads);
  const contents = [...new Set(files.map((file) => file.sha256))];
  await lockContents(tx, contents);
  await checkStored(deps, contents);
  const rows = files.map(({ sha256, size, filename, content_type }) => ({
    id: deps.ids.next(),
    sha256,
    size,
    filename,
    content_type,
  }));
  await insertEvidence(tx, orgId, rows, deps.clock.now());
  // A statement of its own, to see what somebody else has inserted meanwhile.
  const stored = await listEvidenceByContent(tx, orgId, contents);
  const byKey = new Map(stored.map((file) => [keyOf(file), file]));
  return uploads.map((upload) => present(byKey.get(keyOf(upload)), "every file was stored"));
}

/** A file ready to be sent. */
export interface EvidenceDownload {
  body: Readable;
  headers: Record<string, string>;
}

/**
 * Opens the bytes of a file. The stream fails before its end when they are damaged.
 * @throws ContentMissing when they are gone; AppError unavailable when the storage cannot be reached.
 */
export async function openContent(deps: Pick<Deps, "evidence">, file: EvidenceFile): Promise<Readable> {
  try {
    return await deps.evidence.open(file.sha256);
  } catch (error) {
    throw error instanceof ContentMissing ? error : unavailable(error);
  }
}

/**
 * Opens a file for download: saved under its name, never shown by a browser as part of this site.
 * @throws AppError not_found when the organization has no such file; unavailable; ContentMissing.
 */
export async function openEvidence(
  deps: Pick<Deps, "evidence">,
  db: Executor,
  orgId: string,
  id: string,
): Promise<EvidenceDownload> {
  const file = await findEvidence(db, orgId, id);
  if (file === undefined) throw notFound("Evidence not found");
  return {
    body: await openContent(deps, file),
    headers: {
      "content-type": file.content_type,
      "content-length": String(file.size),
      "content-disposition": attachmentDisposition(file.filename),
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    },
  };
}
