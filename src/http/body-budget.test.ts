import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { AppError } from "../domain/errors.ts";
import { BodyBudget, type Exhausted, type Owner } from "./body-budget.ts";

const limits = {
  bodyBytes: 100,
  bodyBytesPerCaller: 60,
  strangerBodyBytes: 20,
  strangerBodyBytesPerAddress: 10,
};
const caller = (share: string): Owner => ({ pool: "callers", share });
const stranger = (share: string): Owner => ({ pool: "strangers", share });

describe("the memory of bodies", () => {
  it("is refused to one share that has enough, to all when it is full, and given back", () => {
    const refused: Exhausted[] = [];
    const budget = new BodyBudget(limits, (why) => refused.push(why));
    const [one, two] = [budget.open(caller("a")), budget.open(caller("b"))];
    one.take(60);
    expect(() => budget.open(caller("a")).take(1)).toThrow(AppError);
    two.take(40);
    expect(() => two.take(1)).toThrow(AppError);
    expect(refused).toEqual(["callers_share", "callers_full"]);
    one.close();
    two.take(1);
    expect(budget.used("callers")).toBe(41);
  });

  it("of strangers is apart from that of callers", () => {
    const budget = new BodyBudget(limits);
    budget.open(stranger("x")).take(10);
    budget.open(stranger("y")).take(10);
    expect(() => budget.open(stranger("z")).take(1)).toThrow(AppError);
    budget.open(caller("a")).take(60);
    budget.open(caller("b")).take(40);
    expect([budget.used("callers"), budget.used("strangers")]).toEqual([100, 20]);
  });

  it("never exceeds its limits and is all given back, whatever is done in whatever order", () => {
    const step = fc.record({
      who: fc.nat(5),
      what: fc.constantFrom("take", "give", "close"),
      bytes: fc.nat(40),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const budget = new BodyBudget(limits);
        const accounts = Array.from({ length: 6 }, (_, index) =>
          budget.open({ pool: index < 3 ? "callers" : "strangers", share: `s${index % 2}` }),
        );
        for (const { who, what, bytes } of steps) {
          const account = accounts[who]!;
          try {
            if (what === "take") account.take(bytes);
            else if (what === "give") account.give(bytes);
            else account.close();
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
          }
          expect(budget.used("callers")).toBeLessThanOrEqual(100);
          expect(budget.used("strangers")).toBeLessThanOrEqual(20);
        }
        for (const account of accounts) account.close();
        expect([budget.used("callers"), budget.used("strangers")]).toEqual([0, 0]);
      }),
    );
  });
});
