import { Logger, run, type Runner } from "graphile-worker";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { deliveryTasks } from "../../src/jobs/tasks.ts";
import { isPaused, recordAnswer, recordAttempt } from "../../src/modules/notices/notifications/pause.ts";
import { senders, takePlace } from "../../src/modules/notices/notifications/places.ts";
import { type Notified, startNotified } from "../support/notified.ts";
import { deliveriesOf, happen, inProd } from "../support/notifications.ts";

let notified: Notified;
let app: Notified["app"];

beforeAll(async () => {
  notified = await startNotified();
  ({ app } = notified);
});
afterAll(() => notified.stop());
beforeEach(() => notified.clear());

/** Works on deliveries as a server does. */
function startWork(): Promise<Runner> {
  return run({
    pgPool: app.deps.db.pool,
    taskList: deliveryTasks(app.deps),
    concurrency: senders,
    pollInterval: 100,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
  });
}

describe("receivers that do not answer", () => {
  it("keep no other organization waiting, and get all once they do", async () => {
    const { receiver, watched, webhook } = notified;
    const targets = Array.from({ length: 12 }, (_, at) => webhook(`/held-${at}`));
    const [slow, quick] = [await watched({ targets }), await watched({ targets: [webhook("/quick")] })];
    let answer = (_status: number): void => {};
    const held = new Promise<number>((resolve) => {
      answer = resolve;
    });
    const waiting = new Set<string>();
    receiver.answer(({ path }) => {
      if (path === "/quick") return 200;
      waiting.add(path);
      return held;
    });
    await happen(app, slow, await inProd(app, slow, "ON_COMPLIANT_ENV"));
    await happen(app, quick, await inProd(app, quick, "ON_COMPLIANT_ENV"));
    const work = await startWork();
    try {
      await expect
        .poll(() => receiver.received.some(({ path }) => path === "/quick"), { timeout: 10_000 })
        .toBe(true);
      await expect.poll(() => waiting.size).toBe(3);
      answer(200);
      const outcomes = async () =>
        (await deliveriesOf(slow)).map(({ status, attempts }) => `${String(status)} ${String(attempts)}`);
      // None counts as tried that was only put back.
      await expect
        .poll(outcomes, { timeout: 20_000 })
        .toEqual(Array.from({ length: 12 }, () => "delivered 1"));
    } finally {
      answer(200);
      await work.stop();
    }
  });
});

describe("places", () => {
  it("are few for one organization, and those of mail about keys are nobody else's", async () => {
    const taken: (() => void)[] = [];
    const take = async (
      owner: string,
      postponed: 0 | 2 = 0,
      kind: "deliveries" | "keyMails" = "deliveries",
    ) => {
      const place = await takePlace(app.deps, { kind, owner, postponed });
      if ("comeAgain" in place) return place.comeAgain;
      taken.push(place.leave);
      return "taken";
    };
    for (const owner of ["a", "a", "a", "b", "b", "b", "c", "c"]) expect(await take(owner)).toBe("taken");
    expect([await take("a"), await take("c")]).toEqual([0, 0]);
    const [first, second] = [await take("a", 2), await take("a", 2)];
    expect(first).toBeCloseTo(0.2, 1);
    expect(second).toBeGreaterThan(first as number);
    expect(await take("mail", 0, "keyMails")).toBe("taken");
    for (const leave of taken) leave();
    expect(await take("a", 2)).toBe("taken");
    taken.pop()?.();
  });
});

describe("a target that stays silent", () => {
  it("is tried by one at a time, and left alone for twice as long each time, for minutes at most", () => {
    const { deps, clock } = app;
    clock.freeze();
    const target = "target";
    const silence = (beganAt = clock.now()) => recordAnswer(deps, target, { answered: false, beganAt });
    const together = clock.now();
    silence();
    const pauses: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      let pause = 0;
      for (; isPaused(deps, target); pause += 5) clock.advance(5);
      pauses.push(pause);
      recordAttempt(deps, target, 15);
      expect(isPaused(deps, target), "while it is tried").toBe(true);
      const beganAt = clock.now();
      clock.advance(15);
      silence(beganAt);
      // Of an attempt that was under way beside the first one.
      silence(together);
    }
    expect(pauses).toEqual([15, 30, 60, 120, 240, 300, 300]);
    clock.advance(300);
    recordAnswer(deps, target, { answered: true, beganAt: clock.now() });
    recordAttempt(deps, target, 15);
    expect(isPaused(deps, target)).toBe(false);
    silence();
    clock.advance(15);
    expect(isPaused(deps, target)).toBe(false);
  });
});
