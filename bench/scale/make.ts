import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";

import { type ManagedConnection, withClient, withPostgres } from "./connection.ts";
import { planIndexes } from "./indexes-sql.ts";
import { latestTables, listed, repeatedTables, repeatedWhere } from "./rows-sql.ts";
import { compileRows, type SeedRows, type TemplateTable } from "./seed-rows.ts";
import { type Epoch, render, type Slot, valuesOf } from "./template.ts";
import { addUp } from "./totals-sql.ts";

/** Settings under which much is written that can be made again. The server that is measured runs with its own. */
const settings = {
  fsync: "off",
  full_page_writes: "off",
  autovacuum: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "16GB",
  checkpoint_timeout: "30min",
  // Room that is asked for beforehand is not compressed by file systems that do that.
  file_extend_method: "write_zeros",
  shared_buffers: "512MB",
  maintenance_work_mem: "1GB",
  max_parallel_maintenance_workers: "0",
};

const year = 365 * 86_400 * 1_000_000;

/** Places epochs side by side over a year, the last one ending when reporting did; longer where a year is too short. */
export function epochAt(number: number, epochs: number, { from, to }: { from: number; to: number }): Epoch {
  const length = Math.max(Math.floor(year / epochs), to - from + 1000);
  return { number, start: to - (epochs - number) * length, stretch: (length - 1000) / (to - from) };
}

/** How many streams write at the same time, and how many epochs each writes in one transaction. */
const streams = 3;
const epochsAtOnce = 5;
const piece = 1 << 18;

/** Keeps what stands in the slots of the epochs that are being written. */
function createValues(slots: readonly Slot[], at: (number: number) => Epoch): (number: number) => string[] {
  const kept = new Map<number, string[]>();
  return (number) => {
    const known = kept.get(number);
    if (known !== undefined) return known;
    const values = valuesOf(slots, at(number));
    kept.set(number, values);
    if (kept.size > 3 * epochsAtOnce) kept.delete(kept.keys().next().value!);
    return values;
  };
}

interface Portion {
  table: TemplateTable;
  /** The first epoch, and the one behind the last. */
  from: number;
  to: number;
}

function* textOf({ table, from, to }: Portion, values: (number: number) => string[]): Generator<Buffer> {
  let text = "";
  for (let number = from; number < to; number += 1)
    for (const row of table.rows) {
      text += `${render(row, values(number))}\n`;
      if (text.length < piece) continue;
      yield Buffer.from(text);
      text = "";
    }
  if (text !== "") yield Buffer.from(text);
}

function* portionsOf(
  tables: { repeated: TemplateTable[]; latest: TemplateTable[] },
  epochs: number,
): Generator<Portion, void> {
  for (let from = 0; from < epochs; from += epochsAtOnce)
    for (const table of tables.repeated) yield { table, from, to: Math.min(epochs, from + epochsAtOnce) };
  for (const table of tables.latest) yield { table, from: epochs - 1, to: epochs };
}

/** Connects with triggers out of the way: they do for each row what is added up at the end, and refuse to remove rows. */
function withWriter<T>(connection: ManagedConnection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(connection, async (client) => {
    await client.query("set session_replication_role = replica");
    return work(client);
  });
}

async function copyPortion(
  client: pg.Client,
  portion: Portion,
  values: (number: number) => string[],
): Promise<void> {
  const { name, columns } = portion.table;
  const sink = client.query(copyFrom(`copy ${name} (${listed(columns)}) from stdin`));
  await pipeline(Readable.from(textOf(portion, values)), sink);
}

async function copyAll(connection: ManagedConnection, rows: SeedRows, epochs: number): Promise<void> {
  const { slots, ...tables } = compileRows(rows, epochs);
  const values = createValues(slots, (number) => epochAt(number, epochs, rows.seed));
  const portions = portionsOf(tables, epochs);
  const begun = performance.now();
  let told = begun;
  const work = (client: pg.Client): Promise<void> => next(client, portions.next());
  const next = async (client: pg.Client, { value, done }: IteratorResult<Portion, void>): Promise<void> => {
    if (done === true) return;
    await copyPortion(client, value, values);
    const now = performance.now();
    if (now - told > 10_000) {
      told = now;
      console.log(`  ${value.from} of ${epochs} in ${((now - begun) / 1000).toFixed(0)} s`);
    }
    await next(client, portions.next());
  };
  await Promise.all(Array.from({ length: streams }, () => withWriter(connection, work)));
}

async function removeSeed(client: pg.Client, orgId: string): Promise<void> {
  for (const table of [...repeatedTables, ...latestTables])
    await client.query(`delete from ${table} where ${repeatedWhere(table, orgId)}`);
}

/**
 * Repeats what was reported in the database itself, over one connection and with its indexes as they are: for amounts that tests look at.
 * What is in the organization's tables afterwards is what `makeEpochs` leaves there.
 */
export async function repeatSmall(client: pg.Client, rows: SeedRows, epochs: number): Promise<void> {
  await client.query("set session_replication_role = replica");
  await removeSeed(client, rows.orgId);
  const { slots, ...tables } = compileRows(rows, epochs);
  const values = createValues(slots, (number) => epochAt(number, epochs, rows.seed));
  for (const portion of portionsOf(tables, epochs)) await copyPortion(client, portion, values);
  await addUp(client, rows, epochs);
  await client.query("reset session_replication_role");
}

/** Runs statements on several connections, each taking the next one. */
async function inTurn(connection: ManagedConnection, statements: Iterable<string>): Promise<void> {
  const left = statements[Symbol.iterator]();
  const lane = (client: pg.Client): Promise<void> => {
    const { value, done } = left.next();
    return done === true ? Promise.resolve() : client.query(value).then(() => lane(client));
  };
  await Promise.all([1, 2].map(() => withWriter(connection, lane)));
}

/** How long each part of making took, in seconds. */
export interface MakeTimes {
  copy: number;
  indexes: number;
  totals: number;
}

/**
 * Repeats what was reported to a data directory that no server runs on, as often as asked for, each time with other ids,
 * names, fingerprints and times. Not resumable: the directory is a copy, and is made again.
 */
export async function makeEpochs(dataDir: string, rows: SeedRows, epochs: number): Promise<MakeTimes> {
  const times: MakeTimes = { copy: 0, indexes: 0, totals: 0 };
  const timed = async (part: keyof MakeTimes, work: () => Promise<void>): Promise<void> => {
    const begun = performance.now();
    await work();
    times[part] = (performance.now() - begun) / 1000;
    console.log(`  ${part}: ${times[part].toFixed(0)} s`);
  };
  const tables = [...repeatedTables, ...latestTables];
  await withPostgres(dataDir, settings, async (connection) => {
    const indexes = await withWriter(connection, async (client) => {
      const plans = await planIndexes(client, tables);
      await removeSeed(client, rows.orgId);
      for (const { drop } of plans) await client.query(drop);
      return plans;
    });
    await timed("copy", () => copyAll(connection, rows, epochs));
    const making = indexes.map(({ make }) => make);
    await timed("indexes", () => inTurn(connection, making));
    await timed("totals", async () => {
      await withWriter(connection, (client) => addUp(client, rows, epochs));
      const vacuums = tables.map((table) => `vacuum (freeze, analyze) ${table}`);
      await inTurn(connection, vacuums);
    });
    await withWriter(connection, (client) => client.query("checkpoint"));
  });
  return times;
}
