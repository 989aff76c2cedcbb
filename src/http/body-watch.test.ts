import { describe, expect, it } from "vitest";

import { BodyWatch, type CutReason } from "./body-watch.ts";

const limits = { stallSeconds: 10, bodyRate: 100, bodySeconds: 60 };

/** A watch whose clock is turned by hand, with one body. */
function begin(more: Partial<typeof limits> = {}) {
  let now = 0;
  const cuts: CutReason[] = [];
  const stream = { readableLength: 0 };
  const watch = new BodyWatch({ ...limits, ...more }, () => now);
  const body = watch.watch(stream, (reason) => cuts.push(reason));
  return {
    cuts,
    stream,
    body,
    /** Lets time pass as it does: swept every second. */
    pass: (seconds: number, bytesEachSecond = 0): void => {
      for (let second = 0; second < seconds; second += 1) {
        now += 1000;
        if (bytesEachSecond > 0) body.arrived(bytesEachSecond);
        watch.sweep();
      }
    },
    /** The process does nothing for a while. */
    freeze: (seconds: number): void => {
      now += seconds * 1000;
      watch.sweep();
    },
  };
}

describe("a body that is received", () => {
  it("is cut off once when nothing arrives", () => {
    const { cuts, pass } = begin();
    pass(9);
    expect(cuts).toEqual([]);
    pass(20);
    expect(cuts).toEqual(["stalled"]);
  });

  it("may pause for a little less, again and again", () => {
    const { cuts, body, pass } = begin();
    for (let times = 0; times < 6; times += 1) {
      body.arrived(5000);
      pass(9);
    }
    expect(cuts).toEqual([]);
  });

  it("must bring something on average", () => {
    const { cuts, pass } = begin();
    pass(9, 50);
    expect(cuts).toEqual([]);
    pass(1, 50);
    expect(cuts).toEqual(["slow"]);
  });

  it("may be as slow as it likes where no rate is asked for", () => {
    const { cuts, pass } = begin({ bodyRate: 0 });
    pass(59, 1);
    expect(cuts).toEqual([]);
  });

  it("has an end, however fast it is", () => {
    const { cuts, pass } = begin();
    pass(59, 1_000_000);
    expect(cuts).toEqual([]);
    pass(1, 1_000_000);
    expect(cuts).toEqual(["long"]);
  });

  it("is not to blame for time in which the server did not take what was there", () => {
    const { cuts, stream, pass } = begin();
    stream.readableLength = 1;
    pass(200);
    expect(cuts).toEqual([]);
    stream.readableLength = 0;
    pass(9);
    expect(cuts).toEqual([]);
    pass(1);
    expect(cuts).toEqual(["stalled"]);
  });

  it("is not to blame for time in which the process stood still", () => {
    const { cuts, freeze, pass } = begin();
    freeze(300);
    pass(9);
    expect(cuts).toEqual([]);
  });

  it("is not watched after its end", () => {
    const { cuts, body, pass } = begin();
    body.end();
    pass(100);
    expect(cuts).toEqual([]);
  });
});
