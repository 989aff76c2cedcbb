import { afterAll, beforeAll, expect, inject, it } from "vitest";
import type pg from "pg";

import { ReplanningClient } from "./replanning-client.ts";

const connection = inject("postgres");
const config: pg.ClientConfig =
  typeof connection === "string" ? { connectionString: connection } : { ...connection };
let client: pg.Client;

beforeAll(async () => {
  client = new ReplanningClient({ ...config, pipeline: true });
  await client.connect();
  // As a table that nobody has looked at: nothing is known of which owners the rows belong to.
  await client.query("create temporary table notes (owner integer, id integer, name text)");
  await client.query("create index notes_names on notes (owner, name)");
  await client.query("create index notes_ids on notes (owner, id)");
});
afterAll(() => client.end());

const look = {
  name: "look",
  text: "select name from notes where owner = $1 and id = $2 order by name limit 100",
};

async function add(from: number, count: number): Promise<void> {
  const text = "insert into notes select 1, i, 'name ' || i from generate_series($1::int, $2::int) as i";
  await client.query(text, [from, from + count - 1]);
}

async function planOf(id: number): Promise<string> {
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain execute look(1, ${id})`);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

it("plans anew for a table that grew, nobody having looked at it", async () => {
  await add(1, 3);
  for (let run = 0; run < 8; run += 1) await client.query({ ...look, values: [1, 1] });
  const early = await planOf(1);
  await add(4, 20_000);
  expect(await planOf(1)).toBe(early);
  for (let run = 0; run < 10; run += 1) await client.query({ ...look, values: [1, 1] });
  const late = await planOf(1);
  expect(late).toContain("notes_ids");
  expect(late).not.toBe(early);
});

it("does so inside transactions, and hides no failure of theirs", async () => {
  await client.query("begin");
  const answers = await Promise.allSettled(
    Array.from({ length: 40 }, (_, run) =>
      client.query({ name: "part", text: "select 10 / $1::int as part", values: [run === 30 ? 0 : 2] }),
    ),
  );
  await client.query("rollback");
  const failed = answers.map(({ status }) => status === "rejected");
  expect(failed.indexOf(true)).toBe(30);
  const codes = answers.flatMap((one) =>
    one.status === "rejected" ? (one.reason as { code: string }).code : [],
  );
  expect(codes).toEqual(["22012", ...Array.from({ length: 9 }, () => "25P02")]);
  expect((await client.query({ ...look, values: [1, 2] })).rows).toEqual([{ name: "name 2" }]);
});
