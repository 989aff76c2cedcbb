import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../../test/support/app.ts";
import { AppError } from "../domain/errors.ts";
import type { Executor } from "./connect.ts";
import { isConnectionFailure, sqlStateOf } from "./sqlstate.ts";
import { transaction } from "./transaction.ts";

let app: TestApp;
let db: Executor;

beforeAll(async () => {
  app = await startTestApp();
  db = app.deps.db.query;
});
afterAll(() => app.close());

function fail(db: Executor, code: string): Promise<unknown> {
  return sql`do ${sql.raw(`$$ begin raise exception 'collision' using errcode = '${code}'; end $$`)}`.execute(
    db,
  );
}

describe("transaction", () => {
  it("keeps everything or nothing", async () => {
    const insert = async (name: string, error?: Error): Promise<void> =>
      transaction(db, async (tx) => {
        await tx.insertInto("instance_settings").values({ name, value: "x" }).execute();
        if (error !== undefined) throw error;
      });
    await insert("kept");
    await expect(insert("lost", new Error("no"))).rejects.toThrow("no");
    const names = await db
      .selectFrom("instance_settings")
      .select("name")
      .where("name", "in", ["kept", "lost"])
      .execute();
    expect(names).toEqual([{ name: "kept" }]);
  });

  it.each(["40001", "40P01", "55P03"])("tries again after a collision (%s)", async (code) => {
    let attempts = 0;
    const result = await transaction(db, async (tx) => {
      attempts += 1;
      if (attempts < 3) await fail(tx, code);
      return "done";
    });
    expect([result, attempts]).toEqual(["done", 3]);
  });

  it("answers a collision that stays with a conflict, which clients retry", async () => {
    const colliding = transaction(db, (tx) => fail(tx, "40001"));
    await expect(colliding).rejects.toSatisfy(
      (error) => error instanceof AppError && error.kind === "conflict",
    );
  });

  it("does not repeat other failures", async () => {
    let attempts = 0;
    const failing = transaction(db, async (tx) => {
      attempts += 1;
      await fail(tx, "23505");
    });
    await expect(failing).rejects.toSatisfy((error) => sqlStateOf(error) === "23505");
    expect(attempts).toBe(1);
  });
});

describe("isConnectionFailure", () => {
  it("knows a database that is away from a caller's mistake", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    expect(isConnectionFailure(refused)).toBe(true);
    expect(isConnectionFailure(new Error("Connection terminated unexpectedly"))).toBe(true);
    expect(isConnectionFailure(new Error("something else"))).toBe(false);
    expect(isConnectionFailure("text")).toBe(false);
  });
});

describe("moments", () => {
  it("come back to the microsecond as the number that went in", async () => {
    for (const seconds of [0, 1, 1_787_150_398.616638, 1_787_150_398.000001, 4_102_444_800, -1.5]) {
      const { rows } = await sql<{ at: number }>`select to_timestamp(${seconds}::float8) as at`.execute(db);
      expect(rows[0]?.at).toBe(seconds);
    }
  });
});
