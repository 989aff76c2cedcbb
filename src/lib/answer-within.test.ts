import { describe, expect, it } from "vitest";

import { answerWithin } from "./answer-within.ts";

const never = new Promise<never>(() => {});

describe("answerWithin", () => {
  it("gives the answer, or the failure, that comes in time", async () => {
    expect(await answerWithin(10_000, Promise.resolve(1), () => 2)).toBe(1);
    await expect(answerWithin(10_000, Promise.reject(new Error("broken")), () => 2)).rejects.toThrow(
      "broken",
    );
  });

  it("gives what is said for one that does not come, or throws that", async () => {
    expect(await answerWithin(1, never, () => "late")).toBe("late");
    const refuse = (): never => {
      throw new Error("too late");
    };
    await expect(answerWithin(1, never, refuse)).rejects.toThrow("too late");
  });
});
