import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, integer, type RowOf, text, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const evidenceFile = { id: uuid, sha256: text, size: integer, filename: text, content_type: text };

/** A file an organization has. */
export type EvidenceFile = RowOf<typeof evidenceFile>;

/** Holds off the removal of these contents as orphans until the transaction ends. */
export async function lockContents(tx: Tx, sha256s: readonly string[]): Promise<void> {
  await tx.run(sql`
    select pg_advisory_xact_lock_shared(hashtextextended('evidence:' || sha256, 0))
    from (select unnest(${sha256s}::text[]) as sha256 order by 1) as c`);
}

/** Waits until nobody is about to refer to this content, and keeps everybody from it until the transaction ends. */
export async function lockOrphan(tx: Tx, sha256: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('evidence:' || ${sha256}::text, 0))`);
}

const removal = sql`hashtextextended('evidence removal', 0)`;

/** Keeps everybody from removing contents for as long as the session lasts. */
export async function holdRemovals(db: Executor): Promise<void> {
  await db.run(sql`select pg_advisory_lock_shared(${removal})`);
}

/** Tells whether contents may be removed, and holds off who wants to keep that from happening until the transaction ends. */
export async function tryRemoval(tx: Tx): Promise<boolean> {
  const { free } = await tx.one(
    query({ free: boolean })`select pg_try_advisory_xact_lock(${removal}) as free`,
  );
  return free;
}

/** Inserts files, passing over those the organization has already. Sort them, lest two writers deadlock. */
export async function insertEvidence(
  tx: Tx,
  orgId: string,
  files: readonly EvidenceFile[],
  createdAt: Timestamp,
): Promise<void> {
  await tx.run(sql`
    insert into evidence (org_id, id, sha256, size, filename, content_type, created_at)
    select ${orgId}, i.id, i.sha256, i.size, i.filename, i.content_type, ${moment(createdAt)}
    from jsonb_to_recordset(${JSON.stringify(files)}::jsonb)
      as i (id uuid, sha256 text, size bigint, filename text, content_type text)
    on conflict (org_id, sha256, filename) do nothing`);
}

/** Lists the organization's files of these digests. */
export function listEvidenceByContent(
  db: Executor,
  orgId: string,
  sha256s: readonly string[],
): Promise<EvidenceFile[]> {
  return db.all(query(evidenceFile)`
    select id, sha256, size, filename, content_type from evidence
    where org_id = ${orgId} and sha256 = any(${sha256s}::text[])`);
}

/** Finds one file of the organization. */
export function findEvidence(db: Executor, orgId: string, id: string): Promise<EvidenceFile | undefined> {
  return db.first(query(evidenceFile)`
    select id, sha256, size, filename, content_type from evidence where org_id = ${orgId} and id = ${id}`);
}

/** Lists contents of all organizations in order of digest, beyond `after`. For those who run the installation. */
export function listContents(
  db: Executor,
  after: string,
  limit: number,
): Promise<{ sha256: string; size: number }[]> {
  return db.all(query("evidence-contents", { sha256: text, size: integer })`
    select sha256, min(size) as size from evidence where sha256 > ${after}
    group by sha256 order by sha256 limit ${limit}`);
}

/** Lists which of these contents any organization has. */
export async function listReferred(db: Executor, sha256s: readonly string[]): Promise<string[]> {
  const rows = await db.all(query("evidence-referred", { sha256: text })`
    select distinct sha256 from evidence where sha256 = any(${sha256s}::text[])`);
  return rows.map(({ sha256 }) => sha256);
}
