import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";
import {
  listEventKeys,
  listKeyedEvents,
  type TrailEventRow,
} from "../../src/modules/process/trails/event-store.ts";
import { getTrail } from "../../src/modules/process/trails/service.ts";
import { printTrail } from "../../src/modules/process/trails/show.ts";
import { createLinks } from "../../src/lib/links.ts";
import { listLatestTrailEvents } from "../../src/modules/views/audit-packages/pdf-store.ts";
import { createDatabase, dropDatabase, withDatabase } from "../support/databases.ts";
import { uniqueName } from "../support/unique-name.ts";

/** What version 0058 answered on the rows it had written. */
interface Former {
  org: { id: string; name: string };
  /** By flow and name. */
  trails: Record<string, { events: unknown[]; document: unknown[] }>;
}

const fixture = (ending: string): string =>
  new URL(`../support/fixtures/trail-events-0058.${ending}`, import.meta.url).pathname;
const former = JSON.parse(await readFile(fixture("json"), "utf8")) as Former;
const { org } = former;

const name = uniqueName("waybill_events").replaceAll("-", "_");
let folder: string;
let db: Database;

/** Loads the rows as they are: of what they refer to, and of what counts them, nothing is there. */
async function load(): Promise<void> {
  const client = await db.pool.connect();
  await client.query("set session_replication_role = replica");
  await client.query(await readFile(fixture("sql"), "utf8"));
  client.release(true);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-migrations-"));
  await createDatabase(inject("postgres"), name);
  db = connect({ connection: withDatabase(inject("postgres"), name), max: 2, checkRows: true });
  for (const file of (await readdir("migrations")).filter((one) => one < "0059"))
    await copyFile(join("migrations", file), join(folder, file));
  await migrate(db.pool, folder);
  await load();
  await migrate(db.pool, "migrations");
});
afterAll(async () => {
  await db.close();
  await dropDatabase(inject("postgres"), name);
  await rm(folder, { recursive: true });
});

describe.each(Object.keys(former.trails))("the trail %s that an earlier version wrote", (key) => {
  const [flow_name, trail_name] = key.split("/") as [string, string];
  const { events, document } = former.trails[key]!;
  const trail = () => getTrail({ db }, org, { flow_name, trail_name });

  async function printed(found: Awaited<ReturnType<typeof trail>>): Promise<unknown> {
    let text = "";
    for await (const piece of printTrail({ links: createLinks("http://waybill.test") }, org, found))
      text += piece;
    return (JSON.parse(text) as { events: unknown }).events;
  }

  it("tells the same events, at once and in parts", async () => {
    const found = await trail();
    expect(await printed(found)).toEqual(events);
    const keys = await listEventKeys(db, org.id, found.row.id);
    const inParts = (): AsyncGenerator<TrailEventRow[]> => listKeyedEvents(db, org.id, found.row.id, keys);
    expect(await printed({ row: found.row, events: inParts })).toEqual(events);
  });

  it("has the same events in documents", async () => {
    const { row } = await trail();
    expect((await listLatestTrailEvents(db, org.id, row.id, 100)).events).toEqual(document);
  });
});

it("keeps whole only what the columns do not say", async () => {
  const { rows } = await db.pool.query<{ name: string; type: string }>(
    `select t.name, e.type from trail_events e join trails t on t.id = e.trail_id where e.data is not null`,
  );
  expect(rows).toEqual([{ name: "plain", type: "trail_reported" }]);
});
