import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import { sql } from "../../src/db/sql.ts";
import type { Content, EvidenceStore } from "../../src/evidence/store.ts";
import type { TestApp, TestOrg } from "./app.ts";

/** A folder for the time of a test file. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "waybill-evidence-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A stream of these pieces. */
export function streamOf(...pieces: (string | Buffer)[]): Readable {
  return Readable.from(
    pieces.map((piece) => Buffer.from(piece)),
    { objectMode: false },
  );
}

/** Stores content as an upload that went well does. */
export async function put(store: EvidenceStore, ...pieces: (string | Buffer)[]): Promise<Content> {
  const staged = await store.stage(streamOf(...pieces), { maxBytes: 20 * 1024 * 1024 });
  await staged.keep();
  await staged.discard();
  return { sha256: staged.sha256, size: staged.size };
}

/** Reads stored content to its end. */
export async function get(store: EvidenceStore, sha256: string): Promise<Buffer> {
  return buffer(await store.open(sha256));
}

/** Keeps content as a file of an organization. @returns its digest. */
export async function keepEvidence({ deps }: TestApp, org: TestOrg, content: Buffer): Promise<string> {
  const { sha256, size } = await put(deps.evidence, content);
  await deps.db.run(sql`
    insert into evidence (org_id, id, sha256, size, filename, content_type, created_at)
    values (${org.id}, ${deps.ids.next()}, ${sha256}, ${size}, ${`${sha256}.txt`}, 'text/plain', now())`);
  return sha256;
}
