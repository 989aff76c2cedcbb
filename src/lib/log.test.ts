import { describe, expect, it } from "vitest";

import { createLogger } from "./log.ts";

function logged(err: unknown): { text: string; err: Record<string, unknown> } {
  const lines: string[] = [];
  createLogger("info", { write: (line) => void lines.push(line) }).error({ err }, "failed");
  const text = lines.join("");
  return { text, err: (JSON.parse(text) as { err: Record<string, unknown> }).err };
}

describe("an error in the log", () => {
  it("says what happened and where", () => {
    const error = Object.assign(new TypeError("no good"), { code: "23502", table: "users" });
    expect(logged(error).err).toMatchObject({
      type: "TypeError",
      message: "no good",
      stack: expect.stringContaining("log.test.ts") as string,
      code: "23502",
      table: "users",
    });
  });

  it("leaves out what it happened to, in its causes too", () => {
    const hidden = {
      detail: "Failing row contains (hunter2)",
      where: "unnamed portal parameter $1 = 'hunter2'",
      internalQuery: "select 'hunter2'",
      hint: "hunter2",
      client: { password: "hunter2" },
      code: { toString: () => "hunter2" },
    };
    const cause = Object.assign(new Error("inner"), hidden);
    const { text, err } = logged(Object.assign(new Error("outer", { cause }), hidden));
    expect(text).not.toContain("hunter2");
    expect(err["cause"]).toMatchObject({ message: "inner" });
  });

  it("may be its own cause", () => {
    const error = new Error("round");
    error.cause = error;
    expect(logged(error).err).toMatchObject({ message: "round" });
  });

  it("may be no error at all", () => {
    expect(logged("text").text).toContain('"err":"text"');
  });
});
