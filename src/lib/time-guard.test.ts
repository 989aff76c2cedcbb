import { describe, expect, it } from "vitest";

import type { Logger } from "./log.ts";
import { createTimeGuard, longestPause, settleSeconds, type TimeGuard } from "./time-guard.ts";

const day = 86_400;
const century = 100 * 365.25 * day;
const start = 1_800_000_000;

/** A machine and a database with clocks that a test drives. */
function drive(options: { recorded?: number | null; databaseAhead?: number } = {}) {
  const world = {
    wall: start,
    database: start + (options.databaseAhead ?? 0),
    monotonic: 1000,
    uptime: 5000,
    recorded: options.recorded === undefined ? start - 60 : options.recorded,
    idOffset: 0,
    reachable: true,
    /** Seconds that the database takes to answer; it reads its clock right before it does. */
    answersIn: 0,
    exchanges: 0,
    errors: [] as string[],
    changes: 0,
  };
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_: unknown, text: string) => void world.errors.push(text),
  } as unknown as Logger;
  const guard = createTimeGuard({
    sources: { wall: () => world.wall, monotonic: () => world.monotonic, uptime: () => world.uptime },
    records: {
      exchange: async (wall) => {
        world.exchanges += 1;
        pass(world.answersIn);
        if (!world.reachable) throw new Error("away");
        if (wall !== undefined) world.recorded = Math.max(wall, world.recorded ?? 0);
        return { database: world.database, recorded: world.recorded, id_offset: world.idOffset };
      },
      raiseIdOffset: async (milliseconds) => {
        world.idOffset = Math.max(world.idOffset, milliseconds);
      },
    },
    log,
  });
  guard.onChange(() => (world.changes += 1));
  /** Time that passes for all alike. */
  const pass = (seconds: number): void => {
    for (const clock of ["wall", "database", "monotonic", "uptime"] as const) world[clock] += seconds;
  };
  const jump = (seconds: number): void => {
    world.wall += seconds;
    world.database += seconds;
  };
  return { world, guard, pass, jump };
}

/** Looks at the database as the timer would. */
async function look(guard: TimeGuard): Promise<void> {
  await guard.start();
  guard.stop();
}

describe("a clock ahead of the database's", () => {
  it("is refused, at the start and when it jumps, and gives the time that is right", async () => {
    const { world, guard, pass } = drive();
    await look(guard);
    pass(10);
    expect(await guard.refusal()).toBeUndefined();
    expect(world.exchanges).toBe(1);
    world.wall += century;
    expect(guard.now()).toBeCloseTo(start + 10, 3);
    expect(await guard.refusal()).toBe(
      "The server's clock is 100 years ahead of the database's, try again later",
    );
    pass(60);
    expect(await guard.refusal()).toContain("100 years");
    expect(guard.now()).toBeCloseTo(start + 70, 3);
    expect(guard.idMilliseconds()).toBe((start + 70) * 1000);
    // Asked of the database and told to the log once, not for each request.
    expect([world.exchanges, world.errors.length]).toEqual([2, 1]);
    expect(world.recorded).toBeLessThan(start + 100);
    world.wall -= century;
    expect(await guard.refusal()).toBeUndefined();
    expect(guard.now()).toBe(world.wall);

    const late = drive({ databaseAhead: -3600 });
    await look(late.guard);
    expect(await late.guard.refusal()).toContain("1 hour ahead of the database's");
    expect(late.guard.now()).toBeCloseTo(start - 3600, 3);
    late.world.database += 3600;
    await look(late.guard);
    expect([await late.guard.refusal(), late.guard.now()]).toEqual([undefined, start]);
  });

  it("is borne for a few minutes, and a database that is ahead is none of our business", async () => {
    for (const [databaseAhead, followed] of [
      [-290, true],
      [290, true],
      [310, false],
      [century, false],
    ] as const) {
      const { guard, world } = drive({ databaseAhead });
      await look(guard);
      expect([await guard.refusal(), world.errors]).toEqual([undefined, []]);
      expect([databaseAhead, guard.now()]).toEqual([databaseAhead, followed ? world.database : start]);
    }
  });
});

describe("servers whose clocks differ by less", () => {
  it("go by the database's clock, as closely as it answers", async () => {
    const { world, guard, pass } = drive({ databaseAhead: -3 });
    world.answersIn = 0.2;
    await look(guard);
    // Asked again, since no answer was close: one of 0.2 s leaves that much open.
    expect(world.exchanges).toBe(3);
    expect(Math.abs(guard.now() - world.database)).toBeLessThanOrEqual(0.2);
    world.answersIn = 0.001;
    await look(guard);
    expect(world.exchanges).toBe(4);
    expect(Math.abs(guard.now() - world.database)).toBeLessThanOrEqual(0.001);
    const before = guard.now() - world.database;
    // Answers that take long, and a database that does not answer, change nothing.
    world.answersIn = 8;
    await look(guard);
    world.reachable = false;
    pass(60);
    await look(guard);
    expect(guard.now() - world.database).toBeCloseTo(before, 5);
    expect(world.recorded).toBeLessThan(world.database + 1);
  });

  it("change nothing where the database is on the same machine", async () => {
    const { world, guard, pass } = drive();
    for (const answersIn of [0.3, 0.002, 0.0004]) {
      world.answersIn = answersIn;
      await look(guard);
      pass(15);
      expect(guard.now()).toBe(world.wall);
    }
  });

  it("keep one time when one of them is set by some minutes, and when it jumps", async () => {
    const { world, guard, pass } = drive({ databaseAhead: 40 });
    await look(guard);
    world.wall += 250;
    await look(guard);
    expect(guard.now()).toBe(world.database);
    world.wall += century;
    pass(20);
    expect(await guard.refusal()).toContain("100 years");
    expect(guard.now()).toBeCloseTo(world.database, 3);
    world.wall -= century;
    await look(guard);
    expect([await guard.refusal(), guard.now()]).toEqual([undefined, world.database]);
  });
});

describe("a machine whose database is on it", () => {
  it("does not stamp after a jump, and takes a pause for one once it has held", async () => {
    const { world, guard, pass, jump } = drive();
    await look(guard);
    jump(8 * 3600);
    expect(guard.now()).toBe(start);
    expect(await guard.refusal()).toBe("The server's clock went on by 8 hours at once, try again later");
    for (let waited = 0; waited < settleSeconds; waited += 15) {
      expect(await guard.refusal()).toBeDefined();
      pass(15);
      await look(guard);
    }
    expect(await guard.refusal()).toBeUndefined();
    expect(guard.now()).toBe(world.wall);
    expect(world.errors).toHaveLength(1);
  });

  it("waits for an operator after more than a pause, who says that the time is right", async () => {
    const { world, guard, pass, jump } = drive();
    await look(guard);
    jump(century);
    await guard.refusal();
    pass(3600);
    await look(guard);
    expect(await guard.refusal()).toContain("100 years");
    expect(world.errors[0]).toContain("accept-time");
    world.recorded = world.database;
    await look(guard);
    expect([await guard.refusal(), guard.now()]).toEqual([undefined, world.wall]);
  });

  it("starts the wait anew when the clock is set again", async () => {
    const { guard, pass, jump } = drive();
    await look(guard);
    jump(3600);
    await guard.refusal();
    pass(100);
    jump(3600);
    await look(guard);
    pass(100);
    await look(guard);
    expect(await guard.refusal()).toBeDefined();
    pass(30);
    await look(guard);
    expect(await guard.refusal()).toBeUndefined();
  });

  it("knows of itself that it was suspended", async () => {
    const { world, guard, jump } = drive();
    await look(guard);
    jump(12 * 3600);
    world.uptime += 12 * 3600;
    expect(await guard.refusal()).toBeUndefined();
    expect(guard.now()).toBe(world.wall);
    // What it was suspended for explains no more than that.
    jump(3600);
    expect(await guard.refusal()).toContain("1 hour");
  });

  it("may have been off for weeks, not for ten years", async () => {
    for (const [away, refused] of [
      [21 * day, false],
      [longestPause - 10, false],
      [10 * 365.25 * day, true],
    ] as const) {
      const { world, guard } = drive({ recorded: start - away });
      await look(guard);
      expect([away, (await guard.refusal()) !== undefined]).toEqual([away, refused]);
      if (!refused) continue;
      expect(guard.now()).toBe(start - away);
      expect(world.errors[0]).toContain("10 years after the last time that was recorded");
      world.recorded = world.database;
      await look(guard);
      expect([await guard.refusal(), guard.now()]).toEqual([undefined, start]);
    }
    const first = drive({ recorded: null });
    await look(first.guard);
    expect(await first.guard.refusal()).toBeUndefined();
  });
});

describe("a clock that is set back", () => {
  it("is followed, and may return to where it was", async () => {
    const { world, guard, pass, jump } = drive();
    await look(guard);
    jump(-3600);
    expect([await guard.refusal(), guard.now()]).toEqual([undefined, start - 3600]);
    pass(60);
    await look(guard);
    expect(await guard.refusal()).toBeUndefined();
    jump(3600);
    expect([await guard.refusal(), guard.now()]).toEqual([undefined, world.wall]);
  });

  it("leaves new ids after those there are", async () => {
    const { world, guard, jump } = drive();
    await look(guard);
    const before = guard.idMilliseconds();
    jump(-7200);
    world.recorded = start;
    await look(guard);
    expect(guard.idMilliseconds()).toBeGreaterThan(before);
  });
});

describe("a clock that drifts", () => {
  it("is followed as far as clocks drift", async () => {
    const { world, guard, pass } = drive();
    await look(guard);
    for (let minute = 0; minute < 2000; minute += 1) {
      pass(60);
      world.wall += 0.3;
      world.database += 0.3;
      await look(guard);
      expect(await guard.refusal()).toBeUndefined();
    }
    expect(guard.now()).toBe(world.wall);
  });

  it("does not get ahead in jumps of some minutes each", async () => {
    const { guard, pass, jump } = drive();
    await look(guard);
    jump(200);
    await look(guard);
    expect(await guard.refusal()).toBeUndefined();
    pass(30);
    jump(200);
    expect(await guard.refusal()).toBeDefined();
  });
});

describe("records from the future", () => {
  it("are worked beside when a clock was set back by hours, and not when they are damaged", async () => {
    const little = drive({ recorded: start + 7200 });
    await look(little.guard);
    expect(await little.guard.refusal()).toBeUndefined();
    const much = drive({ recorded: start + century });
    await look(much.guard);
    expect(await much.guard.refusal()).toContain("Records are 100 years ahead");
    for (const { world } of [little, much]) {
      expect(world.errors).toHaveLength(1);
      expect(world.errors[0]).toContain("waybill admin repair-times");
    }
    expect(much.guard.idMilliseconds()).toBeGreaterThan((start + century) * 1000);
    much.world.recorded = start;
    await look(much.guard);
    expect([await much.guard.refusal(), much.guard.now()]).toEqual([undefined, start]);
  });
});

describe("a database that does not answer", () => {
  it("is no reason to refuse anything, and lets no wrong time through", async () => {
    const { world, guard, pass, jump } = drive();
    await look(guard);
    world.reachable = false;
    pass(600);
    await look(guard);
    expect([await guard.refusal(), guard.now()]).toEqual([undefined, world.wall]);
    jump(century);
    expect([await guard.refusal(), world.errors]).toEqual([undefined, []]);
    expect(guard.now()).toBeCloseTo(start + 600, 3);
    world.reachable = true;
    expect(await guard.refusal()).toContain("100 years");
  });
});
