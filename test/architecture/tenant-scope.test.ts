import { describe, expect, inject, it } from "vitest";

import { distribute, NotDistributable } from "../../src/db/citus/distribute.ts";
import { acrossOrganizations } from "../../src/db/citus/across-organizations.ts";
import { connect } from "../../src/db/connect.ts";
import { requireOneOrganization, unboundTables } from "../support/tenant-scope.ts";

describe("unboundTables", () => {
  it.each([
    "select from flows where org_id = $1",
    "select from flows f join trails t on t.org_id = f.org_id where f.org_id = $1::uuid",
    "select from flows f left join trails t on t.org_id = $1 and t.flow_id = f.id where f.org_id = $1",
    "select from users where id = $1",
    "with flows as (select 1 as id) select id from flows",
    "insert into flows (id, org_id) values ($1, $2), ($3, $4)",
    "insert into flows (org_id, id) select $1::uuid, id from unnest($2::uuid[]) as id",
    "update flows f set name = t.name from trails t where f.org_id = $1 and t.org_id = f.org_id",
    "delete from flows using trails t where flows.org_id = $1 and t.org_id = $1",
    "select store_attestations($1::uuid, $2)",
  ])("finds none in: %s", (text) => {
    expect(unboundTables(text)).toEqual([]);
  });

  it.each([
    ["select from flows where id = $1", ["flows"]],
    ["select from flows where org_id = $1 or id = $2", ["flows"]],
    ["select from flows where org_id = any($1)", ["flows"]],
    ["select from flows f join trails t on t.flow_id = f.id where f.org_id = $1", ["trails t"]],
    ["select from (select $1 as org_id) o join trails t on t.org_id = o.org_id", ["trails t"]],
    ["select from organizations o join trails t on t.org_id = o.id where o.id = $1", ["trails t"]],
    [
      "select (select count(*) from trails t where t.org_id = f.org_id) from flows f where f.org_id = $1",
      ["trails t"],
    ],
    ["select from find_environment($1, $2)", ["find_environment()"]],
    ["select store_attestations(f.org_id, $2) from flows f where f.org_id = $1", ["store_attestations()"]],
    ["insert into flows (org_id, id) select c.org_id, c.id from c", ["inserts into flows"]],
    ["insert into flows (id) values ($1)", ["inserts into flows"]],
    ["update flows set name = $2 where id = $1", ["flows"]],
    ["with gone as (delete from flows where id = $1 returning id) select id from gone", ["flows"]],
  ])("finds in %s: %s", (text, tables) => {
    expect(unboundTables(text)).toEqual(tables);
  });
});

describe("statements of the program", () => {
  it("say whose rows they mean, or are listed", () => {
    const text = "select from flows where id = $1";
    expect(() => requireOneOrganization({ name: undefined, text })).toThrow(
      "does not say whose flows it means",
    );
    expect(() => requireOneOrganization({ name: "flow-by-name", text })).toThrow("flow-by-name does not say");
    for (const name of acrossOrganizations.keys()) requireOneOrganization({ name, text });
  });
});

describe.skipIf(inject("cluster"))("distribute", () => {
  it("refuses where there is no Citus, and says what to do", async () => {
    const db = connect({ connection: inject("postgres"), max: 1 });
    const client = await db.pool.connect();
    try {
      await expect(distribute(client, () => {})).rejects.toThrow(NotDistributable);
      await expect(distribute(client, () => {})).rejects.toThrow(
        "This database is not on Citus: install Citus",
      );
    } finally {
      client.release();
      await db.close();
    }
  });
});
