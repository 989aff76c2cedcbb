/** What is done with backups, and kept a record of. */
export const backupRunKinds = ["backup", "restore", "restore_drill"] as const;
export type BackupRunKind = (typeof backupRunKinds)[number];

/** What became of one: `interrupted` when nobody is at it any more, and nobody said how it ended. */
export const backupRunStates = ["running", "succeeded", "failed", "interrupted"] as const;

/** What is known of one that has ended. */
export interface BackupRunEnd {
  ok: boolean;
  /** A path; `-` for standard output. */
  file: string | null;
  /** Of the file. */
  bytes: number | null;
  /** Of all tables. */
  rows: number | null;
  evidence_files: number | null;
  /** Why it failed, or what somebody should look at. */
  problem: string | null;
}
