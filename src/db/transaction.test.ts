import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../../test/support/app.ts";
import { AppError } from "../domain/errors.ts";
import type { Executor } from "./connect.ts";
import { isConnectionFailure, sqlStateOf } from "./sqlstate.ts";
import { later, transaction } from "./transaction.ts";

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

function setting(name: string) {
  return sql`insert into instance_settings (name, value) values (${name}, 'x')`;
}

async function settingsLike(prefix: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from instance_settings where starts_with(name, ${prefix}) order by name`.execute(db);
  return rows.map(({ name }) => name);
}

describe("later", () => {
  it("runs statements in the order in which they were sent, before the transaction ends", async () => {
    const seen = await transaction(db, async (tx) => {
      later(tx, setting("order-1"));
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from instance_settings where starts_with(name, 'order-')`.execute(tx);
      later(tx, setting("order-2"));
      return rows[0]?.count;
    });
    expect(seen).toBe(1);
    expect(await settingsLike("order-")).toEqual(["order-1", "order-2"]);
  });

  it("fails the transaction with the first failure, and keeps nothing", async () => {
    const failing = transaction(db, async (tx) => {
      later(tx, setting("failing-1"));
      later(tx, sql`select 1 / 0`);
      later(tx, setting("failing-2"));
    });
    await expect(failing).rejects.toSatisfy((error) => sqlStateOf(error) === "22012");
    expect(await settingsLike("failing-")).toEqual([]);
  });

  it("tells what went wrong first, not what went wrong because of it", async () => {
    const failing = transaction(db, async (tx) => {
      later(tx, sql`select 1 / 0`);
      await setting("aborted").execute(tx);
    });
    await expect(failing).rejects.toSatisfy((error) => sqlStateOf(error) === "22012");
  });

  it("tells why the work gave up when every statement succeeded", async () => {
    const failing = transaction(db, async (tx) => {
      later(tx, setting("given-up"));
      throw new Error("given up");
    });
    await expect(failing).rejects.toThrow("given up");
    expect(await settingsLike("given-up")).toEqual([]);
  });

  it("is tried again after a collision", async () => {
    let attempts = 0;
    await transaction(db, async (tx) => {
      attempts += 1;
      later(tx, setting("again"));
      if (attempts === 1)
        later(tx, sql`do $$ begin raise exception 'collision' using errcode = '40001'; end $$`);
    });
    expect(attempts).toBe(2);
    expect(await settingsLike("again")).toEqual(["again"]);
  });
});

describe("statements of a transaction", () => {
  it("are refused once it has ended, whoever still sends them", async () => {
    let straggler: Promise<unknown> = Promise.resolve();
    const failing = transaction(db, async (tx) => {
      straggler = sql`select pg_sleep(0.02)`.execute(tx).then(() => setting("straggler").execute(tx));
      straggler.catch(() => {});
      throw new Error("enough");
    });
    await expect(failing).rejects.toThrow("enough");
    await expect(straggler).rejects.toThrow("The transaction has ended");
    expect(await settingsLike("straggler")).toEqual([]);
  });

  it("leave the connection usable after a failure", async () => {
    for (let round = 0; round < 20; round += 1)
      await expect(transaction(db, async (tx) => later(tx, sql`select 1 / 0`))).rejects.toThrow("zero");
    expect(await transaction(db, async (tx) => (await sql`select 1 as one`.execute(tx)).rows)).toEqual([
      { one: 1 },
    ]);
  });

  it("were all sent, COMMIT included, when that is told", async () => {
    const sent: string[] = [];
    let told: string[] = [];
    const recorder = executorThat((statement) => {
      sent.push(statement);
      return Promise.resolve({ rows: [] });
    });
    await transaction(recorder, async (tx) => later(tx, sql`select 1`), { onSent: () => (told = [...sent]) });
    expect(told).toEqual(["begin", "select 1", "commit"]);
  });

  it("follow BEGIN at once where they may", async () => {
    const isInside = await transaction(
      db,
      async (tx) => {
        const first = sql`select 1`.execute(tx);
        const second = sql<{ inside: boolean }>`select now() < statement_timestamp() as inside`.execute(tx);
        await first;
        return (await second).rows[0]?.inside;
      },
      { beginsWithReads: true },
    );
    expect(isInside).toBe(true);
  });

  it("are refused when BEGIN fails, from the first one that was not sent with it", async () => {
    const sent: string[] = [];
    const failing = transaction(
      executorThat((statement) => {
        sent.push(statement);
        return statement === "begin" ? Promise.reject(new Error("cancelled")) : Promise.resolve({ rows: [] });
      }),
      async (tx) => {
        await sql`select 1`.execute(tx);
        later(tx, sql`delete from instance_settings`);
      },
      { beginsWithReads: true },
    );
    await expect(failing).rejects.toThrow("cancelled");
    expect(sent).toEqual(["begin", "select 1", "commit"]);
  });
});

/** A query builder whose statements go nowhere. */
function executorThat(answer: (statement: string) => Promise<QueryResult<never>>): Executor {
  const connection: DatabaseConnection = {
    executeQuery: ({ sql: statement }: CompiledQuery) => answer(statement),
    streamQuery: () => {
      throw new Error("Nothing is streamed");
    },
  };
  class Driver extends DummyDriver {
    override acquireConnection(): Promise<DatabaseConnection> {
      return Promise.resolve(connection);
    }
  }
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new Driver(),
      createIntrospector: (builder) => new PostgresIntrospector(builder),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
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
    for (const seconds of [0, 1, 1_787_150_398.616638, 1_787_150_398.000001, 4_102_444_800, -1.5]) {
      const { rows } = await sql<{ at: number }>`select to_timestamp(${seconds}::float8) as at`.execute(db);
      expect(rows[0]?.at).toBe(seconds);
    }
  });
});
