import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

import { expect, it } from "vitest";

import { connect, type Database } from "../../src/db/connect.ts";
import { findManagedPostgres } from "../../src/db/managed/index.ts";
import { initialAdminKey, spawnWaybill, startServer, withUsedDataDir } from "../support/server-process.ts";

const rows = 12_000;
const writers = 4;

interface Site {
  url: string;
  key: string;
}

async function report({ url, key }: Site, name: string): Promise<boolean> {
  const body = new FormData();
  body.set("data_json", JSON.stringify({ attestation_name: name, is_compliant: true, user_data: {} }));
  const path = `/api/v2/attestations/main/web/trail/run/generic`;
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(url + path, {
    method: "POST",
    headers,
    body,
    signal: AbortSignal.timeout(20_000),
  });
  return answer.ok;
}

/** Reports until told to stop, and notes what was acknowledged and what was not. */
async function write(
  site: Site,
  label: string,
  noted: { done: string[]; failed: string[] },
  stop: AbortSignal,
) {
  for (let number = 0; !stop.aborted; number += 1) {
    const name = `${label}-${number}`;
    ((await report(site, name)) ? noted.done : noted.failed).push(name);
  }
}

async function openDatabase(dataDir: string): Promise<Database> {
  const connection = await findManagedPostgres(dataDir);
  if (connection === undefined) throw new Error("no database");
  return connect({ connection, max: 2 });
}

/** Makes as many rows as take the copy some seconds. */
async function addRows(db: Database): Promise<void> {
  await db.pool.query(
    `insert into attestations select (jsonb_populate_record(a, jsonb_build_object('name', 'old-' || n, 'id',
       '019a0713-f474-7000-8000-' || lpad(to_hex(n), 8, '0') || '0000'))).*
     from attestations a, generate_series(1, $1::int) n where a.name = 'first'`,
    [rows],
  );
}

function partition(dataDir: string) {
  return spawnWaybill(["admin", "partition", "attestations"], { WAYBILL_DATA_DIR: dataDir });
}

async function copied(db: Database): Promise<number> {
  const { rows: found } = await db.pool.query<{ n: number }>("select copied_rows as n from partition_copies");
  return found[0]?.n ?? 0;
}

/** Waits until somebody wants the table for itself. */
async function switching(db: Database, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const { rows: waiting } = await db.pool.query(
      `select from pg_locks where relation = 'attestations'::regclass and mode = 'AccessExclusiveLock' and not granted`,
    );
    if (waiting.length > 0) return;
    await delay(10);
  }
}

it("loses nothing that was acknowledged while the copy is killed again and again, and in the switch", async () => {
  await withUsedDataDir(async (dataDir) => {
    const server = await startServer(dataDir);
    const site = { url: server.url, key: initialAdminKey(dataDir) };
    expect(await report(site, "first")).toBe(true);
    const db = await openDatabase(dataDir);
    await addRows(db);
    const stop = new AbortController();
    const noted: { done: string[]; failed: string[] } = { done: ["first"], failed: [] };
    const writing = Array.from({ length: writers }, (_, index) =>
      write(site, `w${index}`, noted, stop.signal),
    );

    for (const least of [1, rows / 2]) {
      const child = partition(dataDir);
      while ((await copied(db)) < least && child.exitCode === null) await delay(10);
      child.kill("SIGKILL");
      await once(child, "close");
      expect(child.signalCode).toBe("SIGKILL");
    }

    const reader = await db.pool.connect();
    await reader.query(
      "set idle_in_transaction_session_timeout = 0; begin; select from attestations limit 1",
    );
    const inSwitch = partition(dataDir);
    await switching(db, inSwitch);
    inSwitch.kill("SIGKILL");
    await once(inSwitch, "close");
    expect(inSwitch.signalCode).toBe("SIGKILL");
    await reader.query("commit");
    reader.release();

    const last = partition(dataDir);
    await once(last, "close");
    expect(last.exitCode).toBe(0);
    await delay(500);
    stop.abort();
    await Promise.all(writing);
    expect(noted.failed).toEqual([]);
    expect(noted.done.length).toBeGreaterThan(20);

    const { rows: found } = await db.pool.query<{ name: string }>("select name from attestations");
    const names = found.map(({ name }) => name).filter((name) => !name.startsWith("old-"));
    expect(names.sort()).toEqual(noted.done.sort());
    expect(found.length - names.length).toBe(rows);
    const { rows: state } = await db.pool.query(`
      select (select relkind::text from pg_class where oid = 'attestations'::regclass) as kind,
        to_regclass('attestations_former') is null as is_removed,
        (select count(*)::int from partition_copies) as copies,
        (select count(*) = max(l.seq) and max(l.seq) = max(c.audit_seq) from audit_log l
         join organizations o on o.id = l.org_id join org_counters c on c.org_id = o.id where o.name = 'main') as is_dense`);
    expect(state).toEqual([{ kind: "p", is_removed: true, copies: 0, is_dense: true }]);
    await db.close();
    await server.stop();
  });
}, 300_000);
