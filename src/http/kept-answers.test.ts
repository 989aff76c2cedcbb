import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { AnswerForms, KeptAnswer, KeptAnswers } from "./kept-answers.ts";

const small = fc.constantFrom("a", "b", "c", "d");
const step = fc.record({
  key: small,
  mark: small,
  length: fc.nat(40_000),
  compressed: fc.nat(60_000),
  advance: fc.nat(1500),
});

function answerOf(length: number): KeptAnswer {
  return new KeptAnswer({ body: Buffer.alloc(length), forms: new AnswerForms(length) });
}

describe("answers in memory", () => {
  it("never take more than their room, are given for their own mark only, and not after their second", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let at = 1_000;
        const room = 100_000;
        const kept = new KeptAnswers(room, { now: () => at });
        const reachable = new Map<string, { mark: string; answer: KeptAnswer; at: number; held: number }>();
        for (const { key, mark, length, compressed, advance } of steps) {
          at += advance / 1000;
          const found = kept.find(key, mark);
          const expected = reachable.get(key);
          if (found !== undefined) {
            expect(found).toBe(expected?.answer);
            expect(expected?.mark).toBe(mark);
            expect(at - (expected?.at ?? 0)).toBeLessThan(1);
          }
          const answer = answerOf(length);
          kept.keep(key, mark, answer, kept.now());
          answer.forms?.remember("br", Buffer.alloc(compressed));
          const held = length + (answer.forms?.compressed("br")?.length ?? 0);
          if (kept.find(key, mark) === answer) reachable.set(key, { mark, answer, at, held });
          let taken = 0;
          for (const [other, one] of reachable)
            if (kept.find(other, one.mark) === one.answer) taken += one.held;
          expect(taken).toBeLessThanOrEqual(room);
          expect(kept.taken).toBeLessThanOrEqual(room);
        }
      }),
    );
  });

  it("keep no more of compressed forms than was counted for them", () => {
    const forms = new AnswerForms(100);
    forms.remember("br", Buffer.alloc(60));
    forms.remember("gzip", Buffer.alloc(60));
    expect([forms.compressed("br")?.length, forms.compressed("gzip")]).toEqual([60, undefined]);
  });

  it("keep what has a version as long as there is room, and nothing without room", () => {
    let at = 1_000;
    const kept = new KeptAnswers(100_000, { now: () => at });
    kept.keep("a", "v1", answerOf(10));
    at += 10_000;
    expect(kept.find("a", "v1")).toBeDefined();
    expect(kept.find("a", "v2")).toBeUndefined();
    const none = new KeptAnswers(0, { now: () => at });
    none.keep("a", "v1", answerOf(10));
    expect([none.find("a", "v1"), none.taken]).toEqual([undefined, 0]);
  });

  it("are not given for an earlier time than theirs", () => {
    let at = 1_000;
    const kept = new KeptAnswers(100_000, { now: () => at });
    kept.keep("a", "s", answerOf(10), kept.now());
    expect(kept.find("a", "s")).toBeDefined();
    at -= 1;
    expect(kept.find("a", "s")).toBeUndefined();
  });
});
