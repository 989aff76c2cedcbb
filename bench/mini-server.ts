// What a service costs that does nothing but store: reads each form, writes all that wait in one statement, and says OK when
// they are durable. No accounts, no audit log, no verdicts. In a process of its own, like the server it is compared with.
import { createServer, type ServerResponse } from "node:http";

import { type ConnectOptions, connect } from "../src/db/connect.ts";

/** The message from the parent: which database. */
export interface MiniStart {
  connection: ConnectOptions["connection"];
}

/** The table, which has three indexes. */
const table = `
  create schema if not exists bench;
  drop table if exists bench.records;
  create table bench.records (
    id bigint generated always as identity primary key, trail text not null, body json not null,
    created_at timestamptz not null default now());
  create index on bench.records (trail, id);
  create index on bench.records (created_at)`;

const insert = "insert into bench.records (trail, body) select * from unnest($1::text[], $2::json[])";

/** Batches that are under way at a time. */
const most = 2;

async function serve({ connection }: MiniStart): Promise<void> {
  const db = connect({ connection, max: most });
  await db.pool.query(table);
  let waiting: { trail: string; body: string; response: ServerResponse }[] = [];
  let writing = 0;
  const write = async (): Promise<void> => {
    if (writing === most || waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    writing += 1;
    const columns = [batch.map(({ trail }) => trail), batch.map(({ body }) => body)];
    await db.pool.query({ name: "insert", text: insert, values: columns });
    writing -= 1;
    for (const { response } of batch)
      response.writeHead(201, { "content-type": "application/json", "content-length": 4 }).end('"OK"');
    void write();
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString("utf8");
      const body = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
      JSON.parse(body);
      waiting.push({ trail: request.url ?? "", body, response });
      void write();
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
}

process.once("message", (message) => void serve(message as MiniStart));
process.once("disconnect", () => process.exit());
