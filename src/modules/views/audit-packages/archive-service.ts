import { createHash } from "node:crypto";
import { Readable } from "node:stream";

import { attachmentDisposition } from "../../../domain/evidence-file.ts";
import { createUniquePaths } from "../../../domain/package-path.ts";
import { sha256 } from "../../../lib/hash.ts";
import { tarArchive, type TarEntry } from "../../../lib/tar.ts";
import { nextTurn } from "../../../lib/turns.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type EvidenceDownload, type EvidenceFile, openContent } from "../../process/evidence/service.ts";

/** One part of an audit package. The segments of its path may be any text. */
export type PackageEntry =
  /** JSON text. */
  | { kind: "metadata"; path: string[]; json: string }
  /** JSON text of any length, in pieces, the same each time. */
  | { kind: "long metadata"; path: string[]; json: () => AsyncIterable<string> }
  | { kind: "evidence"; path: string[]; file: EvidenceFile };

/** Name of the list of digests, which `sha256sum -c` reads from the folder it is in. */
const manifestName = "SHA256SUMS";

/** Pieces measured before other requests get their turn. */
const piecesInTurn = 100;

interface Packing {
  /** Folder that everything in the archive is in. */
  root: string;
  modified_at: number;
}

async function* lineOf(json: AsyncIterable<string>): AsyncGenerator<string> {
  yield* json;
  yield "\n";
}

/**
 * Measures what an archive has to know of an entry before its bytes: so they are made twice, and never all in memory.
 */
async function measure(json: AsyncIterable<string>): Promise<{ size: number; sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  let left = piecesInTurn;
  for await (const piece of lineOf(json)) {
    hash.update(piece);
    size += Buffer.byteLength(piece);
    left -= 1;
    if (left > 0) continue;
    await nextTurn();
    left = piecesInTurn;
  }
  return { size, sha256: hash.digest("hex") };
}

async function* archiveEntries(
  deps: Pick<Deps, "evidence">,
  entries: AsyncIterable<PackageEntry>,
  { root, modified_at }: Packing,
): AsyncGenerator<TarEntry> {
  const pathOf = createUniquePaths(root);
  const manifestPath = pathOf(manifestName);
  const folder = manifestPath.slice(0, -manifestName.length);
  const lines: string[] = [];
  for await (const entry of entries) {
    const path = pathOf(...entry.path);
    if (entry.kind === "metadata") {
      const content = Buffer.from(`${entry.json}\n`);
      lines.push(`${sha256(content).toString("hex")}  ${path.slice(folder.length)}\n`);
      yield { path, size: content.length, modified_at, content };
    } else if (entry.kind === "long metadata") {
      const { size, sha256: digest } = await measure(entry.json());
      lines.push(`${digest}  ${path.slice(folder.length)}\n`);
      yield { path, size, modified_at, content: Readable.from(lineOf(entry.json()), { objectMode: false }) };
    } else {
      lines.push(`${entry.file.sha256}  ${path.slice(folder.length)}\n`);
      const content = await openContent(deps, entry.file);
      yield { path, size: entry.file.size, modified_at, content };
    }
  }
  const manifest = Buffer.from(lines.join(""));
  yield { path: manifestPath, size: manifest.length, modified_at, content: manifest };
}

/**
 * Writes an audit package: a tar of metadata, evidence and, last, a manifest of their digests, built while it is sent.
 * Evidence is checked against its digest on the way; the archive breaks off when some is damaged or missing.
 * @param name of the package: the archive's file name and the folder in it.
 */
export function auditPackage(
  deps: Pick<Deps, "evidence" | "clock">,
  name: string,
  entries: AsyncIterable<PackageEntry>,
): EvidenceDownload {
  const modified_at = deps.clock.now();
  const root = createUniquePaths(name)("x").slice(0, -2);
  const archive = tarArchive(archiveEntries(deps, entries, { root, modified_at }));
  return {
    body: Readable.from(archive, { objectMode: false }),
    headers: {
      "content-type": "application/x-tar",
      "content-disposition": attachmentDisposition(`${root}.tar`),
      "x-content-type-options": "nosniff",
    },
  };
}
