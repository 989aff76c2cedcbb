import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { FailureLimit } from "./failure-limit.ts";

const limits = { max: 3, windowSeconds: 60 };

describe("FailureLimit", () => {
  it("never admits more than the limit within a window, and says when one more is", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }), (pauses) => {
        const limit = new FailureLimit(limits);
        const admitted: number[] = [];
        let now = 1000;
        for (const pause of pauses) {
          now += pause;
          const attempt = limit.begin("a", now);
          const recent = admitted.filter((at) => at > now - limits.windowSeconds).length;
          expect(attempt.admitted).toBe(recent < limits.max);
          if (attempt.admitted) admitted.push(now);
          else {
            expect(limit.begin("a", now + attempt.retryAfter).admitted).toBe(true);
            admitted.push(now + attempt.retryAfter);
            now += attempt.retryAfter;
          }
        }
      }),
    );
  });

  it("counts attempts under way, forgets those that were none, and keeps callers apart", () => {
    const limit = new FailureLimit(limits);
    const attempts = [1, 2, 3].map(() => limit.begin("a", 0));
    expect(limit.begin("a", 0).admitted).toBe(false);
    expect(limit.begin("b", 0).admitted).toBe(true);
    const [first] = attempts;
    if (first?.admitted === true) first.pardon();
    expect(limit.begin("a", 1).admitted).toBe(true);
    expect(limit.begin("a", 1).admitted).toBe(false);
  });

  it("remembers a bounded number of callers", () => {
    const limit = new FailureLimit({ max: 1, windowSeconds: 60 });
    limit.begin("first", 0);
    expect(limit.begin("first", 0).admitted).toBe(false);
    for (let index = 0; index < 10_000; index += 1) limit.begin(String(index), 0);
    expect(limit.begin("first", 0).admitted).toBe(true);
    expect(limit.begin("9999", 0).admitted).toBe(false);
  });

  it("does not keep anybody out after the clock was set back", () => {
    const limit = new FailureLimit({ max: 1, windowSeconds: 60 });
    limit.begin("a", 10_000);
    expect(limit.begin("a", 0).admitted).toBe(true);
  });
});
