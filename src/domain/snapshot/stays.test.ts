import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type Move, staysByFingerprint } from "./stays.ts";

function move(index: number, started: boolean, more: Partial<Move> = {}): Move {
  return {
    environment_id: "1",
    environment_name: "prod",
    archived_at: null,
    fingerprint: "f",
    index,
    at: index * 10,
    started,
    ...more,
  };
}

describe("staysByFingerprint", () => {
  it("pairs starts and exits", () => {
    expect(staysByFingerprint([move(1, true), move(3, false), move(4, true)]).get("f")).toEqual([
      { environment_name: "prod", started_at: 10, started_in: 1, exited_at: 30, exited_in: 3 },
      { environment_name: "prod", started_at: 40, started_in: 4, exited_at: null, exited_in: null },
    ]);
  });

  it("knows one stay under several names, also when one takes over from the other", () => {
    const moves = [
      move(1, true),
      move(2, true),
      move(2, false),
      move(3, true),
      move(4, false),
      move(5, false),
    ];
    expect(staysByFingerprint(moves).get("f")).toEqual([
      { environment_name: "prod", started_at: 10, started_in: 1, exited_at: 50, exited_in: 5 },
    ]);
  });

  it("keeps environments and artifacts apart, and orders by start", () => {
    const beta = { environment_id: "2", environment_name: "beta" };
    const stays = staysByFingerprint([
      move(5, true),
      move(1, true, beta),
      move(2, false, beta),
      move(3, true, { fingerprint: "g" }),
    ]);
    expect(stays.get("f")?.map(({ environment_name }) => environment_name)).toEqual(["beta", "prod"]);
    expect(stays.get("g")).toHaveLength(1);
    expect(stays.get("h")).toBeUndefined();
  });

  it("ends with the environment", () => {
    expect(staysByFingerprint([move(1, true, { archived_at: 99 })]).get("f")).toEqual([
      { environment_name: "prod", started_at: 10, started_in: 1, exited_at: 99, exited_in: null },
    ]);
  });

  it("is open exactly while some name runs", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 30 }), (changes) => {
        let running = 0;
        const moves = changes.flatMap(([starts, wanted], at) => {
          const exits = Math.min(wanted, running + starts);
          running += starts - exits;
          const index = at + 1;
          return [
            ...Array.from({ length: starts }, () => move(index, true)),
            ...Array.from({ length: exits }, () => move(index, false)),
          ];
        });
        const stays = staysByFingerprint(moves).get("f") ?? [];
        expect(stays.filter(({ exited_at }) => exited_at === null)).toHaveLength(running > 0 ? 1 : 0);
        for (const [at, { started_in }] of stays.entries())
          if (at > 0) expect(stays[at - 1]!.exited_in!).toBeLessThanOrEqual(started_in);
      }),
    );
  });
});
