import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { connect, type Database } from "../../src/db/connect.ts";
import { createReplica, type Replica } from "../../src/db/replica.ts";
import { text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { type Replicated, type Standby, startReplicated } from "../support/replication.ts";

let all: Replicated;
/** The one that falls behind and is promoted. */
let promoted: Standby;
/** Another one that falls behind, and follows the promoted one then. */
let behind: Standby;
/** The one that went further on the timeline that is no more. */
let further: Standby;
let primary: Database;
const opened: { close(): Promise<void> }[] = [];

/** Waits until a standby has all that was written. */
async function untilReplayed(by: Standby, from: { ask: Standby["ask"] }): Promise<void> {
  const [{ end } = { end: "" }] = await from.ask<{ end: string }>("select pg_current_wal_flush_lsn() as end");
  const isThere = `select coalesce(pg_last_wal_replay_lsn() >= '${end}'::pg_lsn, false) as there`;
  await vi.waitFor(async () => expect(await by.ask(isThere)).toEqual([{ there: true }]), 30_000);
}

beforeAll(async () => {
  all = await startReplicated({ standbys: 3 });
  [promoted, behind, further] = all.standbys as [Standby, Standby, Standby];
  await all.onPrimary("create table told (name text)");
  await all.onPrimary("insert into told values ('before')");
  for (const each of all.standbys) await untilReplayed(each, { ask: all.onPrimary });
  await Promise.all([promoted.kill(), behind.kill()]);
  await all.onPrimary("insert into told values ('on the timeline that is no more')");
  await all.onPrimary("create table much as select md5(i::text) from generate_series(1, 50000) as i");
  await untilReplayed(further, { ask: all.onPrimary });
  await all.stopPrimary();
  await promoted.start();
  await promoted.ask("select pg_promote()");
  primary = connect({ connection: promoted.url, max: 2 });
  opened.push(primary);
}, 120_000);
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
  await all.stop();
}, 60_000);

/** Makes use of a standby as the replica of the promoted one. */
function replicaAt(standby: Standby, onAway: (error: unknown) => void = () => {}): Replica {
  const replica = createReplica({ primary, replica: connect({ connection: standby.url, max: 2 }), onAway });
  opened.push(replica);
  return replica;
}

describe("after a promotion", { timeout: 60_000 }, () => {
  it("a standby that went further on the timeline before is not read", async () => {
    const away: unknown[] = [];
    const replica = replicaAt(further, (error) => away.push(error));
    await replica.requireKin();
    await promoted.ask("insert into told values ('acknowledged by the new primary')");
    expect(await replica.state()).toBe("away");
    expect(away).toEqual([new Error("The replica is on timeline 1, the primary on timeline 2")]);
  });

  it("a standby that follows the new primary is", async () => {
    await behind.start(promoted);
    await promoted.ask("insert into told values ('once more')");
    const replica = replicaAt(behind);
    await expect.poll(() => replica.state(), { timeout: 30_000 }).toBe("current");
    const told = await replica.db.all(query({ name: text })`select name from told order by name`);
    const names = told.map(({ name }) => name);
    expect(names).toEqual(["acknowledged by the new primary", "before", "once more"]);
  });
});
