import { z } from "zod";

/** The only format there is so far. */
export const formatNumber = 1;

/** The first file of a backup: what has to be known before anything else of it is read. */
export const headPath = "waybill-backup.json";
/** The last file of a backup: a backup without it is incomplete. */
export const manifestPath = "manifest.jsonl";

/** The installation's secret key, in an encrypted backup that was asked to have it: the file after the head. */
export const secretKeyPath = "secret-key";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);

/** How evidence goes into a backup: all of it, what no earlier backup of the folder has, or none but its digests. */
export const evidenceChoices = ["full", "new", "none"] as const;
export type EvidenceChoice = (typeof evidenceChoices)[number];

/** What both kinds of backups begin with. */
const headFields = {
  format: z.literal(formatNumber),
  id: z.uuid(),
  /** Version of the program that made it. */
  program: z.string(),
  /** Unix seconds by the clock of the database. */
  database_time: z.number(),
  /** Position in the write-ahead log; null on a standby. */
  lsn: z.string().nullable(),
  /** `server_version_num` of PostgreSQL. */
  database_version: z.int(),
  migrations: z.array(z.strictObject({ name: z.string(), checksum: z.string() })).min(1),
  organizations: count,
  /** Which key sealed the secrets; null when none was sealed. */
  secret_key_fingerprint: z.string().nullable(),
  evidence: z.enum(evidenceChoices),
};

const Table = z.strictObject({
  schema: z.string(),
  name: z.string(),
  columns: z.array(z.string()),
  /** Divided by months where it was copied. */
  partitioned: z.boolean(),
});

const PortableHead = z.strictObject({ ...headFields, tables: z.array(Table) });

/** Names the part of a WAL archive that one life of a database writes to. */
export const lifePattern = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

const PhysicalHead = z.strictObject({
  ...headFields,
  kind: z.literal("physical"),
  /** None: rows are in PostgreSQL's files. */
  tables: z.array(Table).max(0),
  /** The life of the WAL archive that has what came after; null when none was kept. */
  life: z.string().regex(lifePattern).nullable(),
});

/** What a backup of rows begins with, which fits every major version of PostgreSQL. */
export type PortableHead = z.output<typeof PortableHead>;
/** What a backup of the files of PostgreSQL begins with, which fits its major version alone. */
export type PhysicalHead = z.output<typeof PhysicalHead>;
export type BackupHead = PortableHead | PhysicalHead;
export type BackupTable = z.output<typeof Table>;

/** Tells the two kinds of backups apart. */
export function isPhysical(head: BackupHead): head is PhysicalHead {
  return "kind" in head;
}

/** What an encrypted backup says of itself to whoever cannot read it. */
export interface ClearFacts {
  kind: "portable" | "physical";
  evidence: EvidenceChoice;
}

/** Gives what a backup would say of itself to whoever could not read it. */
export function clearFactsOf(head: BackupHead): ClearFacts {
  return { kind: isPhysical(head) ? "physical" : "portable", evidence: head.evidence };
}

const ClearWords = z.tuple([
  z.literal("waybill/backup"),
  z.enum(["portable", "physical"]),
  z.enum(evidenceChoices),
]);

/** Writes what an encrypted backup says of itself, as words. */
export function clearWords({ kind, evidence }: ClearFacts): string[] {
  return ["waybill/backup", kind, evidence] satisfies z.output<typeof ClearWords>;
}

/** Reads such words; undefined for others, and of backups that say nothing, as those of former versions. */
export function parseClearWords(words: readonly string[]): ClearFacts | undefined {
  const [, kind, evidence] = ClearWords.safeParse(words).data ?? [];
  return kind === undefined || evidence === undefined ? undefined : { kind, evidence };
}

const lsn = z.string().regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/);

/** The files of PostgreSQL in a physical backup. */
const Cluster = z.strictObject({
  /** Of the tar that PostgreSQL wrote, and their SHA-256. */
  bytes: count,
  sha256: digest,
  timeline: z.int().min(1),
  /** From where to where in the write-ahead log the files become those of one moment. */
  start_lsn: lsn,
  end_lsn: lsn,
  /** That moment, the first one that can be restored, in Unix seconds by the clock of the database. */
  finished_at: z.number(),
});
export type ClusterFacts = z.output<typeof Cluster>;

const ManifestLine = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("table"), table: z.string(), rows: count, bytes: count, sha256: digest }),
  z.strictObject({ kind: z.literal("sequence"), sequence: z.string(), value: count, called: z.boolean() }),
  z.strictObject({
    kind: z.literal("evidence"),
    sha256: digest,
    size: count,
    /** The backup that has the bytes, by id; null when none has: only the digest was taken. */
    in: z.uuid().nullable(),
    /** Why the bytes could not be read when the backup was made. */
    problem: z.enum(["missing", "damaged"]).optional(),
  }),
  z.strictObject({
    kind: z.literal("end"),
    id: z.uuid(),
    /** Of all bytes of the archive before this file. */
    archive_sha256: digest,
    /** Of all lines of this file before this one. */
    lines_sha256: digest,
    rows: count,
    table_bytes: count,
    evidence_files: count,
    /** Ids of other backups that have evidence of this one. */
    needs: z.array(z.uuid()),
    /** Of a physical backup. */
    cluster: Cluster.optional(),
  }),
]);
export type ManifestLine = z.output<typeof ManifestLine>;
export type ManifestEnd = Extract<ManifestLine, { kind: "end" }>;
export type TableLine = Extract<ManifestLine, { kind: "table" }>;
export type EvidenceLine = Extract<ManifestLine, { kind: "evidence" }>;
export type SequenceLine = Extract<ManifestLine, { kind: "sequence" }>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the first file of a backup; undefined for what is none of a format known here. */
export function parseHead(text: string): BackupHead | undefined {
  const json = parseJson(text);
  return PortableHead.safeParse(json).data ?? PhysicalHead.safeParse(json).data;
}

/** Reads a line of a manifest; undefined for what is none. */
export function parseManifestLine(text: string): ManifestLine | undefined {
  return ManifestLine.safeParse(parseJson(text)).data;
}

/** Names a table as manifests and paths do. */
export function tableKey({ schema, name }: Pick<BackupTable, "schema" | "name">): string {
  return `${schema}.${name}`;
}

/** Bytes of a table that are compressed together: what a reader holds in memory of each table. */
export const partBytes = 4 * 1024 * 1024;

/** Names a part of a table, a gzip file of its own; parts of several tables may follow each other in any order. */
export function partPath(table: string, number: number, isLast: boolean): string {
  return `tables/${table}/${String(number).padStart(6, "0")}${isLast ? ".last" : ""}.bin.gz`;
}

/** Bytes of the tar of PostgreSQL's files that are compressed together. */
export const clusterPartBytes = 1024 * 1024;

/** The list that PostgreSQL itself makes of its files and their checksums. */
export const clusterManifestPath = "cluster/backup_manifest";

/** Names a part of the tar of PostgreSQL's files, a gzip file of its own. */
export function clusterPartPath(number: number, isLast: boolean): string {
  return `cluster/${String(number).padStart(6, "0")}${isLast ? ".last" : ""}.tar.gz`;
}

/** A file of a backup, by its path. */
export type BackupFile =
  | { kind: "cluster"; number: number; isLast: boolean }
  | { kind: "cluster manifest" }
  | { kind: "part"; table: string; number: number; isLast: boolean }
  | { kind: "evidence"; sha256: string }
  | { kind: "secret key" }
  | { kind: "manifest" };

/** Reads the path of a file; undefined for one that no backup has. */
export function parsePath(path: string): BackupFile | undefined {
  if (path === manifestPath) return { kind: "manifest" };
  if (path === secretKeyPath) return { kind: "secret key" };
  if (path === clusterManifestPath) return { kind: "cluster manifest" };
  const cluster = /^cluster\/(\d{6,9})(\.last)?\.tar\.gz$/.exec(path);
  if (cluster !== null)
    return { kind: "cluster", number: Number(cluster[1]), isLast: cluster[2] !== undefined };
  const part = /^tables\/([a-z0-9_]+\.[a-z0-9_]+)\/(\d{6,9})(\.last)?\.bin\.gz$/.exec(path);
  if (part !== null)
    return { kind: "part", table: part[1] ?? "", number: Number(part[2]), isLast: part[3] !== undefined };
  const sha256 = /^evidence\/([0-9a-f]{64})$/.exec(path)?.[1];
  return sha256 === undefined ? undefined : { kind: "evidence", sha256 };
}

/** Names the file with the bytes of a content. */
export function evidencePath(sha256: string): string {
  return `evidence/${sha256}`;
}

/** How much the lines of a manifest say there is. */
export type Sums = Pick<ManifestEnd, "rows" | "table_bytes" | "evidence_files">;

/** Adds up the lines of a manifest, and finds the other backups, by id, that these refer to. */
export function sumUp(
  lines: readonly ManifestLine[],
  id: string | undefined,
): { sums: Sums; needs: ReadonlySet<string> } {
  const sums: Sums = { rows: 0, table_bytes: 0, evidence_files: 0 };
  const needs = new Set<string>();
  for (const line of lines)
    if (line.kind === "table") {
      sums.rows += line.rows;
      sums.table_bytes += line.bytes;
    } else if (line.kind === "evidence") {
      sums.evidence_files += 1;
      if (line.in !== null && line.in !== id) needs.add(line.in);
    }
  return { sums, needs };
}
