import pg from "pg";
import { describe, expect, it } from "vitest";

import { isConnectionFailure, violates } from "./sqlstate.ts";

function databaseError(code: string): Error {
  return Object.assign(new pg.DatabaseError("failed", 0, "error"), { code });
}

describe("violates", () => {
  const broken = (code: string, message: string, constraint?: string): Error =>
    Object.assign(new pg.DatabaseError(message, 0, "error"), { code, constraint });

  it("goes by the constraint, or by what a message from a shard names", () => {
    expect(violates(broken("23505", "…", "flows_name"), "flows_name")).toBe(true);
    const message = 'duplicate key value violates unique constraint "flows_name_102034"';
    expect(violates(broken("23505", message), "flows_name")).toBe(true);
    expect(violates(broken("23505", message), "flows")).toBe(false);
    expect(violates(broken("42P01", message), "flows_name")).toBe(false);
    expect(violates(new Error(message), "flows_name")).toBe(false);
  });
});

describe("isConnectionFailure", () => {
  it.each([
    ["08006", "a connection that broke"],
    ["53300", "too many connections"],
    ["53100", "a full disk"],
    ["57P01", "a shutdown"],
    ["57P03", "a start"],
    ["57014", "a statement that took too long"],
    ["25006", "a standby"],
    ["25P03", "a transaction that was idle for too long"],
  ])("is true for %s, %s", (code) => {
    expect(isConnectionFailure(databaseError(code))).toBe(true);
  });

  it.each(["23505", "22003", "42703", "40001", "25P02", "57000"])("is false for %s", (code) => {
    expect(isConnectionFailure(databaseError(code))).toBe(false);
  });

  it("is true for a server that cannot be reached, false for mistakes of ours", () => {
    for (const code of ["ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "EHOSTUNREACH"])
      expect(isConnectionFailure(Object.assign(new Error("connect"), { code }))).toBe(true);
    expect(isConnectionFailure(new Error("timeout exceeded when trying to connect"))).toBe(true);
    expect(isConnectionFailure(new TypeError("x is not a function"))).toBe(false);
    expect(isConnectionFailure("text")).toBe(false);
  });
});
