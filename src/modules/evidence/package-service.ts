import { Readable } from "node:stream";

import { attachmentDisposition } from "../../domain/evidence-file.ts";
import { createPathBook } from "../../domain/package-path.ts";
import { sha256 } from "../../lib/hash.ts";
import { tarArchive, type TarEntry } from "../../lib/tar.ts";
import type { Deps } from "../deps.ts";
import type { EvidenceDownload, EvidenceFile } from "./service.ts";
import { openContent } from "./service.ts";

/** One part of an audit package. The segments of its path may be any text. */
export type PackageEntry =
  /** JSON text. */
  | { kind: "metadata"; path: string[]; json: string }
  | { kind: "evidence"; path: string[]; file: EvidenceFile };

/** `sha256sum -c` reads this, from the folder it is in. */
const manifestName = "SHA256SUMS";

interface Packing {
  /** Folder that everything in the archive is in. */
  root: string;
  modified_at: number;
}

async function* archiveEntries(
  deps: Pick<Deps, "evidence">,
  entries: AsyncIterable<PackageEntry>,
  { root, modified_at }: Packing,
): AsyncGenerator<TarEntry> {
  const pathOf = createPathBook(root);
  const manifestPath = pathOf(manifestName);
  const folder = manifestPath.slice(0, -manifestName.length);
  const lines: string[] = [];
  for await (const entry of entries) {
    const path = pathOf(...entry.path);
    if (entry.kind === "metadata") {
      const content = Buffer.from(`${entry.json}\n`);
      lines.push(`${sha256(content).toString("hex")}  ${path.slice(folder.length)}\n`);
      yield { path, size: content.length, modified_at, content };
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
 * An audit package: a tar of metadata, evidence and, last, a manifest of their digests, built while it is sent. Evidence is
 * checked against its digest on the way; the archive breaks off when some is damaged or missing.
 * @param name of the package: the archive's file name and the folder in it.
 */
export function auditPackage(
  deps: Pick<Deps, "evidence" | "clock">,
  name: string,
  entries: AsyncIterable<PackageEntry>,
): EvidenceDownload {
  const modified_at = deps.clock.now();
  const root = createPathBook(name)("x").slice(0, -2);
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
