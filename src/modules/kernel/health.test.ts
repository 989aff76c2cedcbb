import { setTimeout as delay } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import type { Finding } from "../../domain/health.ts";
import { silentLog } from "../../lib/log.ts";
import { createHealthChecks } from "./health.ts";

const good: Finding = { status: "ok", detail: "fine" };
const never = new Promise<Finding>(() => {});

function checks(now: () => number = () => 0) {
  return createHealthChecks({ version: "1.2.3", now, log: silentLog, patienceMs: 50 });
}

describe("health checks", () => {
  it("are shared by all who ask at a time, and stand for a while", async () => {
    const health = checks();
    let looks = 0;
    const look = async (): Promise<Finding> => {
      looks += 1;
      await delay(5);
      return good;
    };
    health.add("one", look);
    health.add("other", look, { goodForMs: 0 });
    const reports = await Promise.all([health.report(), health.report(), health.report()]);
    expect(looks).toBe(2);
    expect(reports[1]).toEqual({
      status: "ok",
      version: "1.2.3",
      checks: [
        { name: "one", ...good, since: 0 },
        { name: "other", ...good, since: 0 },
      ],
    });
    await health.report();
    expect(looks).toBe(3);
  });

  it("answer though one hangs, which is not begun again", async () => {
    const health = checks();
    let looks = 0;
    health.add("hangs", () => {
      looks += 1;
      return never;
    });
    health.add("works", () => good);
    for (let time = 0; time < 3; time += 1)
      expect(await health.report()).toMatchObject({
        status: "failing",
        checks: [{ status: "failing", detail: "no answer within 0.05 s" }, good],
      });
    expect(looks).toBe(1);
  });

  it("take one that throws for failing, and do not say with what", async () => {
    const health = checks();
    health.add("throws", () => Promise.reject(new Error("password 'hunter2'")));
    const report = await health.report();
    expect(report.checks[0]).toMatchObject({ status: "failing" });
    expect(JSON.stringify(report)).not.toContain("hunter2");
  });

  it("say since when a status lasts, whatever the detail", async () => {
    let now = 100;
    const health = checks(() => now);
    let finding = good;
    health.add("one", () => finding, { goodForMs: 0 });
    const since = async (): Promise<number> => (await health.report()).checks[0]!.since;
    expect(await since()).toBe(100);
    now = 200;
    finding = { status: "ok", detail: "still fine" };
    expect(await since()).toBe(100);
    finding = { status: "degraded", detail: "not so fine" };
    expect(await since()).toBe(200);
    now = 300;
    expect(await since()).toBe(200);
  });

  it("have each name once", () => {
    const health = checks();
    health.add("one", () => good);
    expect(() => health.add("one", () => good)).toThrow("two health checks called one");
  });
});
