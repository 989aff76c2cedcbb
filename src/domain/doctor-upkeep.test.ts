import { describe } from "vitest";

import { type Fault, testDiagnoses, type Well } from "../../test/support/diagnoses.ts";
import {
  judgeAuditLag,
  judgeAutovacuum,
  judgeBackupBucket,
  judgeBackupFolder,
  judgeBreakGlass,
  judgeCollation,
  judgeDurability,
  judgeEngine,
  judgeLogLevel,
  judgeMemory,
  judgeOpenTransactions,
  judgePrepared,
  judgeRecipients,
  judgeSlots,
  judgeStandby,
  judgeTransactionIds,
} from "./doctor-upkeep.ts";

const mebibyte = 2 ** 20;
const folder = { path: "/backups", problem: undefined, beside: [], setting: "WAYBILL_BACKUP_TO" };

const well: Well[] = [
  ["engine", judgeEngine({ cluster: "18", engine: "18" })],
  ["engine before the first start", judgeEngine({ cluster: undefined, engine: "18" })],
  ["level", judgeLogLevel("info")],
  ["memory", judgeMemory(256 * mebibyte, 1_000 * mebibyte)],
  ["folder", judgeBackupFolder(folder)],
  ["bucket", judgeBackupBucket("s3://bucket/backups", undefined)],
  ["recipients", judgeRecipients(undefined, true)],
  ["recipients of others", judgeRecipients(undefined, undefined)],
  ["durability", judgeDurability({ off: [], unlogged: [] })],
  ["autovacuum", judgeAutovacuum(true, [])],
  ["transaction ids", judgeTransactionIds(500_000_000)],
  ["no transactions", judgeOpenTransactions([])],
  ["short transactions", judgeOpenTransactions([{ pid: 1, seconds: 600, isIdle: true }])],
  ["a backup", judgeOpenTransactions([{ pid: 1, seconds: 3_600, isIdle: false }])],
  ["prepared", judgePrepared(0)],
  ["slots", judgeSlots([])],
  ["collation", judgeCollation(false)],
  ["standby", judgeStandby(true, 64 * mebibyte)],
  ["standby that is ahead of what was asked", judgeStandby(true, -8)],
  ["links", judgeBreakGlass(0)],
  ["audit", judgeAuditLag([{ target: "siem", seconds: 600 }])],
];

const faults: Fault[] = [
  ["no engine", judgeEngine({ cluster: "18", engine: undefined }), "failing", /not installed/],
  ["other engine", judgeEngine({ cluster: "17", engine: "18" }), "failing", /18 cannot .* 17 made/],
  ["debug", judgeLogLevel("debug"), "warning", /debug/],
  ["trace", judgeLogLevel("trace"), "warning", /trace/],
  ["small heap", judgeMemory(256 * mebibyte - 1, 2_000 * mebibyte), "warning", /for Node/],
  ["small machine", judgeMemory(300 * mebibyte, 1_000 * mebibyte - 1), "warning", /in all/],
  ["no bucket", judgeBackupBucket("s3://bucket/backups", "AccessDenied"), "failing", /AccessDenied/],
  ["no folder", judgeBackupFolder({ ...folder, problem: "ENOENT" }), "failing", /ENOENT/],
  [
    "same disk",
    judgeBackupFolder({ ...folder, beside: ["the database", "the evidence"] }),
    "warning",
    /database and the/,
  ],
  ["recipient that is cut", judgeRecipients("checksum", undefined), "failing", /checksum/],
  ["foreign identity", judgeRecipients(undefined, false), "failing", /reads nothing/],
  ["setting", judgeDurability({ off: ["fsync"], unlogged: [] }), "failing", /^fsync is off$/],
  ["settings", judgeDurability({ off: ["fsync", "full_page_writes"], unlogged: [] }), "failing", /are off/],
  ["unlogged", judgeDurability({ off: [], unlogged: ["trails"] }), "failing", /^a crash empties trails$/],
  ["no autovacuum", judgeAutovacuum(false, []), "failing", /off/],
  ["no autovacuum of a table", judgeAutovacuum(true, ["trails"]), "warning", /trails/],
  ["old rows", judgeTransactionIds(500_000_001), "warning", /500000001/],
  ["very old rows", judgeTransactionIds(1_500_000_001), "failing", /writes stop/],
  ["idle", judgeOpenTransactions([{ pid: 1, seconds: 601, isIdle: true }]), "warning", /10 minutes while/],
  [
    "the longest",
    judgeOpenTransactions([
      { pid: 1, seconds: 700, isIdle: true },
      { pid: 2, seconds: 7_200, isIdle: false },
    ]),
    "warning",
    /^2 stay open, one for 120 minutes$/,
  ],
  ["prepared", judgePrepared(2), "warning", /^2 were/],
  ["slot", judgeSlots([{ name: "gone", bytes: 2 ** 30 }]), "warning", /gone \(1\.0 GiB\)/],
  ["collation", judgeCollation(true), "failing", /other rules/],
  ["late standby", judgeStandby(true, 64 * mebibyte + 1), "warning", /64\.0 MiB behind/],
  ["no standby", judgeStandby(false, 0), "failing", /follows nobody/],
  ["links", judgeBreakGlass(2), "warning", /^2 links/],
  [
    "audit",
    judgeAuditLag([
      { target: "siem", seconds: 601 },
      { target: "file", seconds: 0 },
    ]),
    "warning",
    /siem for 10/,
  ],
];

describe("what the doctor judges of upkeep", () => {
  testDiagnoses(well, faults);
});
