import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import {
  addMonths,
  boundOf,
  defaultPartitionOf,
  monthOf,
  monthsAhead,
  type PartitionedTable,
  partitionedTables,
  partitionOf,
} from "../../src/domain/partitions.ts";
import type { Actor } from "../../src/domain/principal.ts";
import { eraseOldAddresses, lockErasing } from "../../src/modules/kernel/audit/erase-service.ts";
import {
  deleteCopy,
  findCopy,
  insertCopy,
  updateSwitched,
} from "../../src/modules/maintenance/partitions/copy-store.ts";
import { removeBefore } from "../../src/modules/maintenance/partitions/removal-service.ts";
import {
  abandonCopy,
  isPartitioned,
  keepPartitionsAhead,
  partitionTable,
  readPartitionStates,
} from "../../src/modules/maintenance/partitions/service.ts";
import { repairTimes } from "../../src/modules/maintenance/time-repair/service.ts";
import { attestPassed } from "../support/attestations.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { untilWaiting } from "../support/locks.ts";
import { untoldTables } from "../support/untold-tables.ts";

/** Tables cannot be divided there, or are already. */
const isElsewhere = inject("cluster") || inject("divided");

let app: TestApp;
let org: TestOrg;

const actor: Actor = {
  kind: "system",
  id: null,
  name: "test",
  api_key_id: null,
  action: "remove_partition",
  request_id: "test",
  request_digest: null,
};

/** What people read of the tables. */
async function answers(): Promise<unknown[]> {
  const paths = [
    `/trails/${org.name}/web/one`,
    `/attestations/${org.name}?per_page=50`,
    `/attestations/${org.name}/web/trail/one/unit`,
    `/audit-log/${org.name}?per_page=50`,
    `/audit-log/${org.name}?action=post_generic_attestation`,
  ];
  const read = paths.map(async (path) => {
    const { status, json } = await org.admin.get(path);
    expect(status).toBe(200);
    return json as unknown;
  });
  return Promise.all(read);
}

const noReport = (): void => {};

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  await attestPassed(org, "one", "unit");
  await attestPassed(org, "one", "scan");
  await attestPassed(org, "two", "unit");
  // Of two months ago.
  const id = boundOf("attestations", addMonths(monthOf(app.clock.now()), -2)).replace(
    /-0000-0000-/,
    "-7000-8000-",
  );
  await app.deps.db.pool.query(
    `insert into attestations select (jsonb_populate_record(a, jsonb_build_object('id', $1::text, 'name', 'ancient'))).*
     from attestations a where name = 'scan'`,
    [id],
  );
});
afterAll(() => app.close());

describe.skipIf(isElsewhere)("dividing tables by months", () => {
  it("leaves every answer as it was, and goes on taking reports", async () => {
    const before = await answers();
    for (const table of partitionedTables) expect(await partitionTable(app.deps, table, noReport)).toBe(true);
    expect(await answers()).toEqual(before);
    await attestPassed(org, "one", "later");
    const trail = (await org.admin.get(`/trails/${org.name}/web/one`)).json;
    expect(JSON.stringify(trail)).toContain("later");
    const { entries } = (await org.admin.get(`/audit-log/${org.name}?per_page=50`)).json;
    const numbers = entries.map(({ seq }: { seq: number }) => seq);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => numbers.length - index));
  });

  it("does nothing the second time", async () => {
    expect(await partitionTable(app.deps, "attestations", noReport)).toBe(false);
  });

  it("keeps names of indexes, triggers, and references", async () => {
    const { rows } = await app.deps.db.pool.query(`
      select array(select relname::text from pg_class where relname ~ '^(attest|trail_ev|audit).*_(former|copy)$') as left_over,
        (select count(*)::int from pg_trigger where tgrelid = 'attestations'::regclass and not tgisinternal) as triggers,
        (select count(*)::int from pg_constraint where conrelid = 'attestations'::regclass and contype = 'f') as refs,
        to_regclass('attestations_trail_name') is not null and to_regclass('attestations_pkey') is not null as named`);
    expect(rows).toEqual([{ left_over: [], triggers: 2, refs: 1, named: true }]);
  });

  it("refuses changes of records as before, in partitions, too", async () => {
    const now = monthOf(app.clock.now());
    for (const table of partitionedTables)
      for (const name of [table, partitionOf(table, now)]) {
        await expect(app.deps.db.pool.query(`delete from ${name}`)).rejects.toThrow("insert-only");
        await expect(app.deps.db.pool.query(`update ${name} set org_id = org_id`)).rejects.toThrow(
          "insert-only",
        );
      }
    for (const name of ["audit_log", partitionOf("audit_log", now), defaultPartitionOf("audit_log")])
      await expect(app.deps.db.pool.query(`truncate ${name}`)).rejects.toThrow("insert-only");
  });

  it("has partitions for the months to come, and makes more in time", async () => {
    const fresh = partitionedTables.map((table) => ({ table, ahead: monthsAhead, strays: 0 }));
    expect(await readPartitionStates(app.deps)).toEqual(fresh);
    const later = { ...app.deps, clock: { now: () => app.clock.now() + 70 * 86_400 } };
    expect((await readPartitionStates(later)).every(({ ahead }) => ahead < monthsAhead)).toBe(true);
    await keepPartitionsAhead(later);
    expect((await readPartitionStates(later)).every(({ ahead }) => ahead === monthsAhead)).toBe(true);
    expect(await untoldTables(app.deps.db)).toEqual([]);
    // What the database does not say within a second is left out.
    const metrics = async (): Promise<string> =>
      (await app.server.inject({ method: "GET", url: "/metrics" })).body;
    await expect
      .poll(metrics, { timeout: 20_000 })
      .toContain('waybill_partition_strays{table="audit_log"} 0');
  }, 60_000);

  it("shows rows that no month was made for", async () => {
    await transaction(app.deps.db, (tx) =>
      tx.run(sql`insert into trail_events (org_id, trail_id, id, occurred_at, type, data)
        select org_id, trail_id, '00000001-0000-7000-8000-000000000000', occurred_at, type, data from trail_events limit 1`),
    );
    const [, events] = await readPartitionStates(app.deps);
    expect(events).toMatchObject({ table: "trail_events", strays: 1 });
  });

  it("refuses to repair times while a table is being copied", async () => {
    await app.deps.db.pool.query("insert into partition_copies (table_name) values ('attestations')");
    await expect(repairTimes(app.deps, actor)).rejects.toThrow("is being partitioned");
    await app.deps.db.pool.query("delete from partition_copies");
    await repairTimes(app.deps, actor);
  });
});

describe.skipIf(isElsewhere)("a copy that is given up", () => {
  let other: TestApp;
  beforeAll(async () => void (other = await startTestApp({}, { maintained: true })));
  afterAll(() => other.close());

  it("leaves the table as it was", async () => {
    const owner = await other.org();
    await owner.admin.post(`/service-accounts/${owner.name}`, { name: "a" });
    const interrupted = partitionTable(other.deps, "audit_log", () => {
      throw new Error("interrupted");
    });
    await expect(interrupted).rejects.toThrow("interrupted");
    expect(await findCopy(other.deps.db, "audit_log")).toMatchObject({ is_switched: false });
    await owner.admin.post(`/service-accounts/${owner.name}`, { name: "b" });
    expect(await abandonCopy(other.deps, "audit_log")).toBe(true);
    expect(await abandonCopy(other.deps, "audit_log")).toBe(false);
    expect(await isPartitioned(other.deps, "audit_log")).toBe(false);
    expect((await owner.admin.get(`/audit-log/${owner.name}`)).json.total_count).toBe(2);
    expect(await partitionTable(other.deps, "audit_log", noReport)).toBe(true);
    expect((await owner.admin.get(`/audit-log/${owner.name}`)).json.total_count).toBe(2);
  });

  it("is refused when rows were changed behind its back", async () => {
    const interrupted = partitionTable(other.deps, "trail_events", () => {
      throw new Error("interrupted");
    });
    await expect(interrupted).rejects.toThrow("interrupted");
    await other.deps.db.pool.query(
      `insert into trail_events_partitions (org_id, trail_id, id, occurred_at, type, data)
       values (gen_random_uuid(), gen_random_uuid(), '01a20713-f474-7000-8247-630474d50000', now(), 'x', '{}')`,
    );
    await expect(partitionTable(other.deps, "trail_events", noReport)).rejects.toThrow("were changed");
    expect(await abandonCopy(other.deps, "trail_events")).toBe(true);
    expect(await partitionTable(other.deps, "trail_events", noReport)).toBe(true);
  });
});

describe.skipIf(isElsewhere)("a copy of the audit log", () => {
  let other: TestApp;
  let owner: TestOrg;
  beforeAll(async () => {
    other = await startTestApp({}, { maintained: true });
    owner = await other.org();
    await owner.admin.post(`/service-accounts/${owner.name}`, { name: "a" });
  });
  afterAll(() => other.close());

  const erase = (days: number) =>
    eraseOldAddresses({ ...other.deps, clock: { now: () => other.clock.now() + days * 86_400 } });
  const addresses = async (): Promise<unknown[]> =>
    (await owner.admin.get(`/audit-log/${owner.name}`)).json.entries.map(
      ({ address }: { address: unknown }) => address,
    );
  const warning = "are kept while audit_log is being partitioned";

  it("has erasing wait that would begin at the same time", async () => {
    let erasing: Promise<void> | undefined;
    await transaction(other.deps.db, async (tx) => {
      await lockErasing(tx);
      await insertCopy(tx, "audit_log");
      erasing ??= erase(401);
      await untilWaiting(other, erasing);
    });
    await erasing;
    expect(await addresses()).toEqual(["127.0.0.1"]);
    await transaction(other.deps.db, (tx) => deleteCopy(tx, "audit_log"));
  });

  it("begins when those are erased that are being", async () => {
    let copying: Promise<boolean> | undefined;
    await transaction(other.deps.db, async (tx) => {
      await lockErasing(tx);
      copying ??= partitionTable(other.deps, "audit_log", () => {
        throw new Error("interrupted");
      });
      await untilWaiting(other, copying);
      expect(await findCopy(other.deps.db, "audit_log")).toBeUndefined();
    });
    await expect(copying).rejects.toThrow("interrupted");
    expect(await findCopy(other.deps.db, "audit_log")).toMatchObject({ copied_rows: 1 });
  });

  it("is not thrown away, and brings back no address, when it spans the night", async () => {
    const before = other.logged();
    await erase(399);
    expect(other.logged().slice(before.length)).not.toContain(warning);
    await erase(401);
    expect(other.logged().slice(before.length)).toContain(warning);
    expect(await addresses()).toEqual(["127.0.0.1"]);
    expect(await partitionTable(other.deps, "audit_log", noReport)).toBe(true);
    expect(await addresses()).toEqual(["127.0.0.1"]);
    await erase(401);
    expect(await addresses()).toEqual([null]);
  });

  it("keeps no address once it has taken the table's place, though the table as it was is still there", async () => {
    await owner.admin.post(`/service-accounts/${owner.name}`, { name: "b" });
    await transaction(other.deps.db, async (tx) => {
      await insertCopy(tx, "audit_log");
      await updateSwitched(tx, "audit_log");
    });
    await erase(401);
    expect(await addresses()).toEqual([null, null]);
  });
});

describe.skipIf(isElsewhere)("removing months", () => {
  const month = (ahead: number) => addMonths(monthOf(app.clock.now()), ahead);
  const search = () => org.admin.get(`/attestations/${org.name}?per_page=50`);
  const remove = (table: PartitionedTable, ahead: number) =>
    removeBefore(app.deps, actor, table, { until: month(ahead) });

  it("refuses what is still needed, what is not over, and tables that are not divided", async () => {
    await expect(remove("attestations", 1)).rejects.toThrow("in the future");
    const other = await startTestApp({}, { maintained: true });
    await expect(removeBefore(other.deps, actor, "attestations", { until: month(0) })).rejects.toThrow(
      "not partitioned",
    );
    await other.close();
  });

  it("removes all rows of the months, and says so in the audit log", async () => {
    await expect(remove("attestations", 0)).rejects.toThrow(
      `still needed by trails that were reported to in the last 30 days: ${org.name}/web/one`,
    );
    expect((await search()).text).toContain("ancient");
    await app.deps.db.pool.query("update trails set last_modified_at = created_at - interval '3 months'");
    expect(await remove("attestations", 0)).toEqual([month(-2), month(-1)]);
    expect(await remove("attestations", 0)).toEqual([]);
    const left = await search();
    expect(left.text).not.toContain("ancient");
    expect(left.text).toContain("scan");
    const log = (await org.admin.get(`/audit-log/${org.name}?action=remove_partition`)).json;
    expect(log.entries).toMatchObject([{ resource_type: "partition", actor: "test" }]);
    await attestPassed(org, "one", "still");
  });
});
