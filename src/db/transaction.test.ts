import type pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";

import { startTestApp, type TestApp } from "../../test/support/app.ts";
import { AppError } from "../domain/errors.ts";
import type { ConnectionSource, Database, Executor } from "./connect.ts";
import { countRows } from "./count-rows.ts";
import { boolean, integer, text, timestamp } from "./row.ts";
import { moment, query, raw, type Sql, sql } from "./sql.ts";
import { isConnectionFailure, sqlStateOf } from "./sqlstate.ts";
import { transaction } from "./transaction.ts";

let app: TestApp;
let db: Database;

beforeAll(async () => {
  app = await startTestApp();
  db = app.deps.db;
});
afterAll(() => app.close());

function fail(db: Executor, code: string): Promise<unknown> {
  return db.run(sql`do ${raw(`$$ begin raise exception 'collision' using errcode = '${code}'; end $$`)}`);
}

describe("transaction", () => {
  it("keeps everything or nothing", async () => {
    const insert = async (name: string, error?: Error): Promise<void> =>
      transaction(db, async (tx) => {
        await tx.run(setting(name));
        if (error !== undefined) throw error;
      });
    await insert("kept");
    await expect(insert("lost", new Error("no"))).rejects.toThrow("no");
    expect(await settingsLike("kept")).toEqual(["kept"]);
    expect(await settingsLike("lost")).toEqual([]);
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

  it("tries again also where what was sent after the statement that collided is waited for first", async () => {
    let attempts = 0;
    const result = await transaction(db, async (tx) => {
      attempts += 1;
      if (attempts > 1) return "done";
      const colliding = fail(tx, "40P01");
      colliding.catch(() => {});
      await tx.run(sql`select 1`);
      return "not reached";
    });
    expect([result, attempts]).toEqual(["done", 2]);
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

describe("a statement of its own", () => {
  it.skipIf(inject("cluster"))("is sent again when it was chosen to end a deadlock", async () => {
    const holder = await db.pool.connect();
    onTestFinished(() => holder.release(true));
    const isWaited = async (): Promise<boolean> => {
      const { rows } = await holder.query<{ waits: boolean }>(
        "select exists (select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))) as waits",
      );
      return rows[0]!.waits;
    };
    await holder.query("begin; lock table instance_settings in access exclusive mode");
    // Locks its tables in this order, and waits for the second one.
    const reading = db.one(query({ users: integer })`
      select count(*)::integer as users from users left join instance_settings on false`);
    await expect.poll(isWaited).toBe(true);
    // Gets it only when the reader is ended, which looks for a deadlock first: it has waited for longer.
    await holder.query("lock table users in access exclusive mode");
    await holder.query("commit");
    await expect(reading).resolves.toHaveProperty("users");
  });
});

function setting(name: string): Sql {
  return sql`insert into instance_settings (name, value) values (${name}, 'x')`;
}

async function settingsLike(prefix: string): Promise<string[]> {
  const rows = await db.all(query({ name: text })`
    select name from instance_settings where starts_with(name, ${prefix}) order by name`);
  return rows.map(({ name }) => name);
}

describe("statements that nobody waits for", () => {
  it("runs statements in the order in which they were sent, before the transaction ends", async () => {
    const seen = await transaction(db, async (tx) => {
      tx.send(setting("order-1"));
      const count = await countRows(tx, sql`instance_settings where starts_with(name, 'order-')`);
      tx.send(setting("order-2"));
      return count;
    });
    expect(seen).toBe(1);
    expect(await settingsLike("order-")).toEqual(["order-1", "order-2"]);
  });

  it("fails the transaction with the first failure, and keeps nothing", async () => {
    const failing = transaction(db, async (tx) => {
      tx.send(setting("failing-1"));
      tx.send(sql`select 1 / 0`);
      tx.send(setting("failing-2"));
    });
    await expect(failing).rejects.toSatisfy((error) => sqlStateOf(error) === "22012");
    expect(await settingsLike("failing-")).toEqual([]);
  });

  it("tells what went wrong first, not what went wrong because of it", async () => {
    const failing = transaction(db, async (tx) => {
      tx.send(sql`select 1 / 0`);
      await tx.run(setting("aborted"));
    });
    await expect(failing).rejects.toSatisfy((error) => sqlStateOf(error) === "22012");
  });

  it("tells why the work gave up when every statement succeeded", async () => {
    const failing = transaction(db, async (tx) => {
      tx.send(setting("given-up"));
      throw new Error("given up");
    });
    await expect(failing).rejects.toThrow("given up");
    expect(await settingsLike("given-up")).toEqual([]);
  });

  it("is tried again after a collision", async () => {
    let attempts = 0;
    await transaction(db, async (tx) => {
      attempts += 1;
      tx.send(setting("again"));
      if (attempts === 1)
        tx.send(sql`do $$ begin raise exception 'collision' using errcode = '40001'; end $$`);
    });
    expect(attempts).toBe(2);
    expect(await settingsLike("again")).toEqual(["again"]);
  });
});

describe("statements of a transaction", () => {
  it("are refused once it has ended, whoever still sends them", async () => {
    let straggler: Promise<unknown> = Promise.resolve();
    const failing = transaction(db, async (tx) => {
      straggler = tx.run(sql`select pg_sleep(0.02)`).then(() => tx.run(setting("straggler")));
      straggler.catch(() => {});
      throw new Error("enough");
    });
    await expect(failing).rejects.toThrow("enough");
    await expect(straggler).rejects.toThrow("The transaction has ended");
    expect(await settingsLike("straggler")).toEqual([]);
  });

  it("leave the connection usable after a failure", async () => {
    for (let round = 0; round < 20; round += 1)
      await expect(transaction(db, async (tx) => tx.send(sql`select 1 / 0`))).rejects.toThrow("zero");
    expect(await transaction(db, (tx) => tx.one(query({ one: integer })`select 1 as one`))).toEqual({
      one: 1,
    });
  });

  it("were all sent, COMMIT included, when that is told", async () => {
    const sent: string[] = [];
    let told: string[] = [];
    const recorder = sourceThat((statement) => {
      sent.push(statement);
      return Promise.resolve({ rows: [] });
    });
    await transaction(recorder, async (tx) => tx.send(sql`select 1`), { onSent: () => (told = [...sent]) });
    expect(told).toEqual(["begin", "select 1", "commit"]);
  });

  it("follow BEGIN at once where they may", async () => {
    const isInside = await transaction(
      db,
      async (tx) => {
        const first = tx.run(sql`select 1`);
        const second = tx.one(query({ inside: boolean })`select now() < statement_timestamp() as inside`);
        await first;
        return (await second).inside;
      },
      { beginsWithReads: true },
    );
    expect(isInside).toBe(true);
  });

  it("are refused when BEGIN fails, from the first one that was not sent with it", async () => {
    const sent: string[] = [];
    const failing = transaction(
      sourceThat((statement) => {
        sent.push(statement);
        return statement === "begin" ? Promise.reject(new Error("cancelled")) : Promise.resolve({ rows: [] });
      }),
      async (tx) => {
        await tx.run(sql`select 1`);
        tx.send(sql`delete from instance_settings`);
      },
      { beginsWithReads: true },
    );
    await expect(failing).rejects.toThrow("cancelled");
    expect(sent).toEqual(["begin", "select 1", "commit"]);
  });
});

/** Connections whose statements go nowhere. */
function sourceThat(answer: (statement: string) => Promise<{ rows: never[] }>): ConnectionSource {
  const send = async ({ text }: { text: string }): Promise<pg.QueryResult> => ({
    command: "",
    rowCount: null,
    oid: 0,
    fields: [],
    ...(await answer(text)),
  });
  return { checkRows: false, begin: "begin", borrow: async () => ({ send, release: () => {} }) };
}

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
    for (const seconds of [0, 1, 1_787_150_398.616638, 1_787_150_398.000001, 4_102_444_800, -1.5])
      expect(await db.one(query({ at: timestamp })`select ${moment(seconds)} as at`)).toEqual({
        at: seconds,
      });
  });
});
