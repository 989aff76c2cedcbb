import { EventEmitter, once } from "node:events";
import { Readable } from "node:stream";

import fc from "fast-check";
import type pg from "pg";
import { afterEach, describe, expect, inject, it } from "vitest";

import { turnsDuring } from "../../test/support/turns.ts";
import { connect, type Database } from "./connect.ts";
import { guardReading, MessageLengths } from "./guarded-reading.ts";
import { integer, text } from "./row.ts";
import { query, sql } from "./sql.ts";
import { isConnectionFailure } from "./sqlstate.ts";
import { transaction } from "./transaction.ts";

const opened: Database[] = [];
const errors: Error[] = [];
function open(options: { max: number; pipelinedConnections?: number; largestRow?: number }): Database {
  const onConnectionError = (error: Error): void => void errors.push(error);
  const db = connect({ connection: inject("postgres"), onConnectionError, ...options });
  opened.push(db);
  return db;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()));
  errors.length = 0;
});

const oneText = { text };
const long = (bytes: number) => query(oneText)`select repeat('x', ${bytes}::integer) as text`;
const answered = query("answered", { pid: integer }, { pipelined: true });
const pid = () => answered`select pg_backend_pid() as pid`;
const pipelinedLong = (bytes: number) =>
  query("long", oneText, { pipelined: true })`select repeat('x', ${bytes}::integer) as text`;

/** What the driver does with a text of 512 MB: it throws while it reads a row, in the listener of the socket. */
function failAtRows(db: Database): { end(): void } {
  let fails = true;
  db.pool.on("connect", (client) => {
    (client as unknown as { connection: pg.Connection }).connection.prependListener("dataRow", () => {
      if (fails) throw new RangeError("Cannot create a string longer than 0x1fffffe8 characters");
    });
  });
  return { end: () => void (fails = false) };
}

describe("a row that the driver cannot read", () => {
  it("fails its query, and the connection is replaced", async () => {
    const db = open({ max: 1 });
    const failing = failAtRows(db);
    await expect(db.all(long(5))).rejects.toThrow("Cannot create a string longer");
    failing.end();
    expect(await db.one(long(5))).toEqual({ text: "xxxxx" });
    expect(db.pool.totalCount).toBe(1);
  });

  it("fails a transaction, which changes nothing", async () => {
    const db = open({ max: 2 });
    await db.run(sql`create table if not exists guarded (id integer)`);
    await db.run(sql`truncate guarded`);
    const failing = failAtRows(db);
    const before = db.pool.totalCount;
    expect(before).toBe(1);
    // The connection from before reads well: the first one opened from now on does not.
    const held = await db.borrow();
    const failed = transaction(db, async (tx) => {
      await tx.run(sql`insert into guarded values (1)`);
      await tx.all(long(5));
    });
    await expect(failed).rejects.toThrow("Cannot create a string longer");
    held.release();
    failing.end();
    expect(await db.all(query({ id: integer })`select id from guarded`)).toEqual([]);
    await db.run(sql`drop table guarded`);
  });
});

describe("a row that is too long", () => {
  it("is not read: its query fails, and others come through on another connection", async () => {
    const db = open({ max: 2, largestRow: 1_000_000 });
    expect((await db.one(long(999_000))).text).toHaveLength(999_000);
    await expect(db.all(long(1_100_000))).rejects.toThrow(/answers 1100010 bytes in one, more than 1000000/);
    expect(await Promise.all([db.one(long(3)), db.one(long(4))])).toEqual([
      { text: "xxx" },
      { text: "xxxx" },
    ]);
  });

  it("fails those behind it on a pipelined connection as a lost connection does, and none before it", async () => {
    const db = open({ max: 2, pipelinedConnections: 1, largestRow: 1_000_000 });
    const { pid: first } = await db.one(pid());
    const [before, culprit, behind] = await Promise.allSettled([
      db.one(pid()),
      db.one(pipelinedLong(1_100_000)),
      db.one(pid()),
    ]);
    expect(before).toMatchObject({ status: "fulfilled", value: { pid: first } });
    expect(culprit).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("bytes in one") as string },
    });
    expect(behind.status === "rejected" && isConnectionFailure(behind.reason)).toBe(true);
    await expect.poll(() => db.one(pid()).catch(() => undefined)).toBeDefined();
    expect((await db.one(pid())).pid).not.toBe(first);
    expect(errors.length).toBeGreaterThan(0);
  });
});

/** A message with so many bytes after its head. */
function message(size: number): Buffer {
  const bytes = Buffer.alloc(5 + size, 0xff);
  bytes.writeUInt32BE(size + 4, 1);
  return bytes;
}

describe("an answer that came faster than it is read", () => {
  it("is read with other work in between, whole and in order", async () => {
    const sent = Array.from({ length: 40 }, (_, at) => message(at));
    const stream = Readable.from(sent, { objectMode: false, highWaterMark: 1_000_000 });
    const read: Buffer[] = [];
    const readSlowly = (bytes: Buffer): void => {
      for (const until = performance.now() + 4; performance.now() < until;);
      read.push(bytes);
    };
    const attachListeners = (given: EventEmitter) => void given.on("data", readSlowly);
    const connection = Object.assign(new EventEmitter(), { stream, attachListeners });
    guardReading({ connection } as unknown as pg.Client);
    const turns = await turnsDuring(() => {
      connection.attachListeners(stream);
      return once(stream, "end");
    });
    expect(Buffer.concat(read)).toEqual(Buffer.concat(sent));
    // 160 ms, of which a turn takes some ten.
    expect(turns).toBeGreaterThanOrEqual(12);
  });
});

describe("MessageLengths", () => {
  it("finds the first message that is too long, however the bytes are cut", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 12 });
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(sizes, cuts, (sent, lengths) => {
        const all = Buffer.concat(sent.map(message));
        const watch = new MessageLengths(30);
        let found: { place: number; length: number } | undefined;
        for (let at = 0, turn = 0; at < all.length && found === undefined; turn += 1) {
          const part = all.subarray(at, at + (lengths[turn % lengths.length] ?? 1));
          const tooLong = watch.take(part);
          if (tooLong !== undefined) found = { place: at + tooLong.from, length: tooLong.length };
          at += part.length;
        }
        const which = sent.findIndex((size) => size + 4 > 30);
        if (which === -1) {
          expect(found).toBeUndefined();
          return;
        }
        const begin = sent.slice(0, which).reduce((sum, size) => sum + 5 + size, 0);
        expect(found?.length).toBe((sent[which] ?? 0) + 4);
        // Of a head that came in parts the first ones were read before.
        expect(found?.place).toBeGreaterThanOrEqual(begin);
        expect(found?.place).toBeLessThan(begin + 5);
      }),
    );
  });
});
