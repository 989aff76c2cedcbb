import { describe, expect, it } from "vitest";

import { KnownInState } from "./known-in-state.ts";

interface Row {
  state: string | null;
  ends_at: number | null;
  who: string;
}

const [one, two] = ["one", "two"];
const asked = (name: string, at = 10) => ({ name, at });
const row = (who: string, state: string | null = "1:1:", ends_at: number | null = null): Row => ({
  state,
  ends_at,
  who,
});

function noteTwice(known: KnownInState<Row>, rows: Row[], sentAt = performance.now()): void {
  for (let count = 0; count < 2; count += 1)
    known.note(
      rows.map((_, at) => asked([one, two][at]!)),
      rows,
      sentAt,
    );
}

describe("what is known in a state", () => {
  it("are given, with the state they were found in, once it has been found again", () => {
    const known = new KnownInState<Row>();
    known.note([asked(one)], [row("one")], performance.now());
    expect(known.recall([asked(one)])).toBeUndefined();
    known.note([asked(one)], [row("one")], performance.now());
    expect(known.recall([asked(one)])).toEqual({ state: "1:1:", values: [row("one")] });
  });

  it("are all given or none", () => {
    const known = new KnownInState<Row>();
    noteTwice(known, [row("one")]);
    expect(known.recall([asked(one), asked(two)])).toBeUndefined();
  });

  it("are forgotten with their state, and none is known where there is no state", () => {
    const known = new KnownInState<Row>();
    noteTwice(known, [row("one")]);
    noteTwice(known, [row("one", "1:2:")]);
    expect(known.recall([asked(one)])?.state).toBe("1:2:");
    noteTwice(known, [row("one", null)]);
    expect(known.recall([asked(one)])).toBeUndefined();
  });

  it("end when they end by themselves, and after a second in any case", () => {
    const known = new KnownInState<Row>();
    noteTwice(known, [row("one", "1:1:", 20)]);
    expect(known.recall([asked(one, 19.9)])).toBeDefined();
    expect(known.recall([asked(one, 20)])).toBeUndefined();
    const old = new KnownInState<Row>();
    noteTwice(old, [row("one")], performance.now() - 1001);
    expect(old.recall([asked(one)])).toBeUndefined();
  });

  it("is bounded, in number and in what names take", () => {
    const known = new KnownInState<Row>();
    const many = Array.from({ length: 3_000 }, (_, at) => asked(`name-${at}`));
    const long = asked("x".repeat(301));
    for (let count = 0; count < 2; count += 1)
      known.note([long, ...many], [row("long"), ...many.map(({ name }) => row(name))], performance.now());
    expect(known.recall([long])).toBeUndefined();
    expect(known.recall([many[1_000]!])?.values).toEqual([row("name-1000")]);
    expect(known.recall([many[2_500]!])).toBeUndefined();
  });
});
