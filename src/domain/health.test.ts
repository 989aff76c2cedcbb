import { describe, expect, it } from "vitest";

import {
  bytesInWords,
  judgeBackups,
  judgeClock,
  judgeDatabaseVersion,
  judgeDisk,
  judgeJobs,
  judgeLatency,
  judgeMigrations,
  judgePool,
  judgeReplica,
  worstStatus,
} from "./health.ts";

const gibibyte = 1024 ** 3;

describe("worstStatus", () => {
  it.each([
    [[], "ok"],
    [["ok", "degraded", "ok"], "degraded"],
    [["degraded", "failing", "ok"], "failing"],
  ] as const)("of %j is %s", (statuses, worst) => {
    expect(worstStatus(statuses)).toBe(worst);
  });
});

describe("bytesInWords", () => {
  it.each([
    [0, "0 bytes"],
    [1023, "1023 bytes"],
    [1024, "1.0 KiB"],
    [1.5 * gibibyte, "1.5 GiB"],
    [3 * 1024 * gibibyte, "3.0 TiB"],
  ])("writes %d as %s", (bytes, words) => {
    expect(bytesInWords(bytes)).toBe(words);
  });
});

describe("what is judged", () => {
  it.each([
    ["a fast database", judgeLatency(0.84), "ok", "answers in 0.8 ms"],
    ["a slow database", judgeLatency(412), "degraded", "answers in 412 ms"],
    ["an old PostgreSQL", judgeDatabaseVersion("14.9", 140_009), "failing", /^PostgreSQL 14.9: 15 is/],
    ["a PostgreSQL", judgeDatabaseVersion("18.4", 180_004), "ok", "PostgreSQL 18.4"],
    ["a replica", judgeReplica("current", 0), "ok", "has replayed all"],
    ["a replica a little behind", judgeReplica("behind", 2048), "ok", "is 2.0 KiB behind"],
    ["a replica far behind", judgeReplica("behind", 65 * 1024 ** 2), "degraded", "is 65.0 MiB behind"],
    ["a lost replica", judgeReplica("away", undefined), "degraded", /^does not answer/],
    ["a full pool", judgePool({ max: 4, used: 4, waiting: 4 }), "ok", "4 of 4 connections in use, 4 wait"],
    ["a crowded pool", judgePool({ max: 4, used: 4, waiting: 5 }), "degraded", /5 wait$/],
    ["applied migrations", judgeMigrations(["1", "2"], ["1", "2"]), "ok", "all 2 applied"],
    [
      "pending migrations",
      judgeMigrations(["1", "2", "3"], ["1"]),
      "failing",
      "2 not applied, the first is 2",
    ],
    ["foreign migrations", judgeMigrations(["1"], ["1", "2"]), "degraded", /^a newer version .* it has 2\./],
    ["an empty disk", judgeDisk(50 * gibibyte, 100 * gibibyte), "ok", "50.0 GiB of 100.0 GiB free (50 %)"],
    ["a small rest", judgeDisk(14 * gibibyte, 100 * gibibyte), "degraded", /\(14 %\)$/],
    ["a full disk", judgeDisk(gibibyte, 100 * gibibyte), "failing", /\(1 %\)$/],
    ["no disk", judgeDisk(0, 0), "failing", "0 bytes of 0 bytes free (0 %)"],
    ["a clock ahead", judgeClock(2.5, undefined), "degraded", "2.5 s ahead of the database's"],
    ["a clock behind", judgeClock(-3, undefined), "degraded", "3.0 s behind the database's"],
    ["a good clock", judgeClock(-2, undefined), "ok", "agrees with the database's"],
    ["a doubted clock", judgeClock(0, "The time is in doubt"), "failing", "The time is in doubt"],
    [
      "lost jobs",
      judgeJobs({ set_aside: 1, failed: 0, overdue: 2 }),
      "degraded",
      /^1 set aside, 2 due .*: see `waybill admin jobs list`$/,
    ],
    ["no backups where none are due", judgeBackups(undefined, false, false), "ok", /by itself$/],
    ["no backups where some are due", judgeBackups(undefined, true, true), "degraded", "none was made yet"],
    ["a fresh backup", judgeBackups(1800, true, false), "ok", "the last one is less than an hour old"],
    [
      "a missed backup",
      judgeBackups(26 * 3600, true, true),
      "degraded",
      /^the last one is 26 h old, and another/,
    ],
    ["a weekly backup", judgeBackups(60 * 3600, true, false), "ok", "the last one is 60 h old"],
    ["an old backup by hand", judgeBackups(900 * 3600, false, false), "ok", "the last one is 900 h old"],
  ] as const)("%s", (_what, finding, status, detail) => {
    expect(finding.status).toBe(status);
    if (typeof detail === "string") expect(finding.detail).toBe(detail);
    else expect(finding.detail).toMatch(detail);
  });
});
