import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "./connect.ts";
import { countRows } from "./count-rows.ts";
import { sql } from "./sql.ts";
import { transaction } from "./transaction.ts";

let db: Database;
beforeAll(() => {
  db = connect({ connection: inject("postgres"), max: 1, checkRows: true });
});
afterAll(() => db.close());

describe("countRows", () => {
  const upTo = (most: number) => sql`generate_series(1, ${most}::integer) as n where n <> ${2}`;

  it("counts what is selected, in transactions and outside", async () => {
    expect(await countRows(db, upTo(5))).toBe(4);
    expect(await countRows(db, upTo(0))).toBe(0);
    expect(await transaction(db, (tx) => countRows(tx, upTo(3)))).toBe(2);
  });
});
