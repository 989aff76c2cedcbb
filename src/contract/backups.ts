import { z } from "zod";

import { backupRunKinds, backupRunStates } from "../domain/backup-runs.ts";
import { instanceAdmin } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** A backup, restore or drill that was begun (an extension of the public interface). */
const BackupRun = z
  .object({
    id: z.uuid(),
    kind: z.enum(backupRunKinds),
    /** Whether it was begun by the clock, not by a command. */
    scheduled: z.boolean(),
    /** `interrupted`: nobody is at it any more, and it never said how it ended. */
    state: z.enum(backupRunStates),
    started_at: Timestamp,
    /** Null while it is under way, and when it was interrupted. */
    ended_at: Timestamp.nullable(),
    /** Where the backup is; `-` for standard output. */
    file: z.string().nullable(),
    /** Of the file. */
    bytes: z.number().nullable(),
    /** Of all tables. */
    rows: z.number().nullable(),
    evidence_files: z.number().nullable(),
    /** Why it failed, or what somebody should look at. */
    problem: z.string().nullable(),
  })
  .meta({ id: "BackupRun" });

/** What is done by the clock, as the settings of the answering server say; times in UTC. */
const Schedule = z.object({
  /** As crontabs have it: minute, hour, day, month, weekday. */
  cron: z.string(),
  next_at: Timestamp,
});

/** What is known of an installation's backups (an extension of the public interface). */
export const InstanceBackups = z
  .object({
    /** Folder that backups go to; null: none are made by themselves. */
    to: z.string().nullable(),
    /** What is kept of older ones, such as `7d,4w,12m`; null: all. */
    keep: z.string().nullable(),
    backup: Schedule.nullable(),
    restore_drill: Schedule.nullable(),
    last_backup: BackupRun.nullable(),
    last_restore_drill: BackupRun.nullable(),
    /** The latest hundred, newest first. */
    runs: z.array(BackupRun),
  })
  .meta({ id: "InstanceBackups" });
export type InstanceBackups = z.output<typeof InstanceBackups>;

export const backupEndpoints = {
  list_backups: endpoint({
    method: "GET",
    path: "/instance/backups",
    tag: "Instance",
    summary: "List backups, restores and drills",
    description:
      "What was done, by the clock or by command, the last that succeeded, and what comes next by the settings of the server that answers.",
    access: instanceAdmin,
    responses: { 200: json("What is known of backups", InstanceBackups) },
  }),
} satisfies Endpoints;
