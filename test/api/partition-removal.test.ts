import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { partition, type PartitionOptions } from "../../src/cli/admin-partitions.ts";
import {
  addMonths,
  beginningOf,
  type Month,
  monthOfPartition,
  type PartitionedTable,
  writeMonth,
} from "../../src/domain/partitions.ts";
import { pushAuditLogs } from "../../src/modules/kernel/audit/push-service.ts";
import { listNeeds } from "../../src/modules/maintenance/partitions/removal-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { divideTables } from "../support/divide.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { makeBackup, restoreTarget } from "../support/restoring.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";

/** Tables cannot be divided there, or are, by the months of today. */
const isElsewhere = inject("cluster") || inject("divided");

const day = 86_400;
/** The month that all begins in, and the one after it. */
const early: Month = { year: 2026, month: 6 };
const late = addMonths(early, 1);
const turn = beginningOf(late);
const removeBefore = writeMonth(late);
const template = "version: 1\ntrail:\n  attestations: [{name: begun, type: '*'}, {name: ended, type: '*'}]\n";

interface World {
  app: TestApp;
  org: TestOrg;
}

/** An organization half a minute before the early month ends. */
async function startWorld(environment: Record<string, string> = {}): Promise<World> {
  const app = await startTestApp(environment, { maintained: true, idsByClock: true });
  app.clock.freeze();
  app.clock.advance(turn - 30 - app.clock.now());
  const org = await app.org();
  expect((await putFlow(org.member, org.name, { name: "web" }, template)).status).toBe(201);
  return { app, org };
}

function goTo({ app }: World, moment: number): void {
  app.clock.advance(moment - app.clock.now());
}

async function tell({ org }: World, trail: string, name: string, more: object = {}) {
  const body = { attestation_name: name, is_compliant: true, ...more };
  const { status } = await attest(org.member, { org: org.name, flow: "web", trail }, "generic", body);
  expect(status).toBe(201);
}

async function build({ org }: World, name: string, trail = name): Promise<void> {
  const body = artifactBody({ fingerprint: fingerprintOf(name), trail_name: trail });
  expect((await org.member.post(`/artifacts/${org.name}/web`, body)).status).toBe(201);
}

async function run({ org }: World, environment: string, ...names: string[]): Promise<void> {
  expect((await reportServer(org, environment, names)).status).toBeLessThan(300);
}

async function archive({ org }: World, environment: string): Promise<void> {
  expect((await org.admin.put(`/environments/${org.name}/${environment}/archive`)).status).toBe(200);
}

/** Reads a log in pages of four. @returns the numbers of each page, and what each says of all. */
async function readPages(org: TestOrg, direction: "asc" | "desc") {
  const pages: number[][] = [];
  const totals = new Set<number>();
  for (let last = 1; pages.length < last;) {
    const page = `per_page=4&page=${pages.length + 1}&sort_direction=${direction}`;
    const { total_count, total_pages, entries } = (await org.admin.get(`/audit-log/${org.name}?${page}`))
      .json;
    totals.add(total_count);
    pages.push(entries.map(({ seq }: { seq: number }) => seq));
    last = total_pages;
  }
  return { pages, totals: [...totals] };
}

/** Makes the pages of a log from the entries that are left of it. */
async function pagesOfRows({ app }: World, org: TestOrg) {
  const { rows } = await app.deps.db.pool.query<{ seq: number }>(
    "select seq::int from audit_log where org_id = $1 order by seq",
    [org.id],
  );
  const seqs = rows.map(({ seq }) => seq);
  expect(seqs[0]).toBeGreaterThan(1);
  expect(seqs.length).toBeGreaterThan(4);
  const inPages = (all: number[]) => ({
    pages: Array.from({ length: Math.ceil(all.length / 4) }, (_, page) => all.slice(page * 4, page * 4 + 4)),
    totals: [all.length],
  });
  return { asc: inPages(seqs), desc: inPages(seqs.toReversed()) };
}

/** Runs the command on a table. */
function command({ app }: World, table: string, options: PartitionOptions): Promise<void> {
  return partition(app.deps, table, options);
}

/** Writes entries about the end of the early month, numbered in the order of their commits, which is not that of their moments. */
async function writeAtTurn({ app, org }: World): Promise<void> {
  await app.deps.db.pool.query(
    `with counted as (update org_counters set audit_seq = audit_seq + 3 where org_id = $1 returning audit_seq - 3 as before)
     insert into audit_log (org_id, seq, occurred_at, actor_kind, actor_name, action, resource_type, resource, request_id)
     select $1, before + n, to_timestamp($2::float8 + after), 'system', 'test', 'test', 'environment', 'x', 'x'
     from counted cross join (values (1, 0.1), (2, -0.1), (3, 0.2)) as entry (n, after)`,
    [org.id, turn],
  );
}

async function months({ app }: World, table: PartitionedTable): Promise<Month[]> {
  const { rows } = await app.deps.db.pool.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1",
    [table],
  );
  return rows.flatMap(({ name }) => monthOfPartition(table, name) ?? []);
}

describe.skipIf(isElsewhere)("a month is needed", () => {
  let world: World;
  const named = ["runs", "ran", "again", "later", "elsewhere", "archived"];

  beforeAll(async () => {
    world = await startWorld();
    const { org } = world;
    for (const name of named) await createEnvironment(org, name, { type: "server" });
    // In the early month.
    for (const trail of ["inside", "over", "goes-on", "recent", ...named]) await tell(world, trail, "begun");
    await build(world, "elsewhere");
    for (const name of ["runs", "ran", "again", "archived"]) {
      await build(world, name);
      await run(world, name, name);
    }
    await tell(world, "elsewhere", "bound", { artifact_fingerprint: fingerprintOf("elsewhere") });
    goTo(world, turn + 30);
    for (const trail of ["over", "goes-on"]) await tell(world, trail, "ended");
    await run(world, "ran", "stray");
    await build(world, "again", "again-late");
    await run(world, "again", "again");
    await build(world, "later");
    await run(world, "later", "later");
    await build(world, "elsewhere", "elsewhere-late");
    await run(world, "elsewhere", "elsewhere");
    await archive(world, "archived");
    goTo(world, turn + 20 * day);
    for (const trail of ["goes-on", "recent"]) await tell(world, trail, "more");
    await divideTables(world.app.deps.db, world.app.clock);
  });
  afterAll(() => world.app.close());

  /** Who needs a month, so many days after the last report, by the last part of their names. */
  async function needed(table: "attestations" | "trail_events", days: number, quietDays = 30, month = early) {
    const options = {
      quietSince: turn + (20 + days - quietDays) * day,
      targets: [],
      most: 100,
    };
    const needs = await listNeeds(world.app.deps.db, table, month, options);
    return Object.fromEntries(
      needs.map(({ why, names }) => [why, names.map((name) => name.slice(name.lastIndexOf("/") + 1))]),
    );
  }

  const running = ["elsewhere", "later", "runs"];

  it.each([
    ["attestations", 29, 30, { runs: running, "goes on": ["goes-on", "recent"] }],
    ["attestations", 31, 30, { runs: running }],
    // A trail that only went over the end of the month.
    ["attestations", 0, 19, { runs: running, "goes on": ["goes-on", "recent"] }],
    ["attestations", 0, 20, { runs: running, "goes on": ["goes-on", "later", "over", "recent"] }],
    ["trail_events", 29, 30, { runs: ["later", "runs"], "goes on": ["goes-on", "recent"] }],
    ["trail_events", 31, 30, { runs: ["later", "runs"] }],
  ] as const)("in %s, %i days after the last report of a trail that is over after %i", async (...given) => {
    const [table, days, quietDays, expected] = given;
    expect(await needed(table, days, quietDays)).toEqual(expected);
  });

  it("by trails that were begun before it", async () => {
    expect(await needed("attestations", 29, 30, late)).toMatchObject({ "goes on": ["goes-on", "recent"] });
    expect(await needed("attestations", 0, 20, late)).toMatchObject({
      "goes on": ["goes-on", "over", "recent"],
    });
    expect(await needed("attestations", 31, 30, late)).not.toHaveProperty("goes on");
  });

  it("by nobody, when it is none of theirs", async () => {
    const options = { quietSince: 0, targets: [], most: 100 };
    const { db } = world.app.deps;
    expect(await listNeeds(db, "attestations", addMonths(late, 1), options)).toEqual([]);
  });

  it("by what runs, until it runs no more", async () => {
    goTo(world, turn + 60 * day);
    const refused = command(world, "attestations", { removeBefore });
    const org = world.org.name;
    const list = running.map((name) => `${org}/${name}`).join(", ");
    await expect(refused).rejects.toThrow(
      `${writeMonth(early)} of attestations is still needed by what runs in ${list}`,
    );
    for (const name of running) await run(world, name, "stray");
    await command(world, "attestations", { removeBefore });
    expect((await months(world, "attestations")).at(0)).toEqual(late);
  });
});

describe.skipIf(isElsewhere)("removing a month", () => {
  let world: World;
  const state = async (trail: string): Promise<string> =>
    (await world.org.reader.get(`/trails/${world.org.name}/web/${trail}`)).json.compliance_status.status;

  beforeAll(async () => {
    world = await startWorld();
    for (const trail of ["over", ...Array.from({ length: 7 }, (_, nth) => `many-${nth}`)]) {
      await tell(world, trail, "begun");
      await tell(world, trail, "failed", { is_compliant: trail !== "over" });
    }
    goTo(world, turn + 30);
    await tell(world, "over", "ended");
    goTo(world, turn + 25 * day);
    for (let nth = 0; nth < 7; nth += 1) await tell(world, `many-${nth}`, "ended");
    await divideTables(world.app.deps.db, world.app.clock);
  });
  afterAll(() => world.app.close());

  it("is refused with the names of some that need it, and what can be done instead", async () => {
    goTo(world, turn + 50 * day);
    const { name } = world.org;
    await expect(
      command(world, "attestations", { removeBefore: writeMonth(addMonths(late, 1)) }),
    ).rejects.toThrow(
      `${writeMonth(early)} of attestations is still needed by trails that were reported to in the last 30 days: ` +
        `${[0, 1, 2, 3, 4].map((nth) => `${name}/web/many-${nth}`).join(", ")} and others`,
    );
  });

  it("takes a number of days and nothing else", async () => {
    for (const quietDays of ["0", "-1", "x", "1.5", "99999"])
      await expect(command(world, "attestations", { removeBefore, quietDays })).rejects.toThrow(
        `'${quietDays}' is not a number of days`,
      );
  });

  it("is done though a trail went on over midnight, whose verdict stays as it was", async () => {
    expect(await state("over")).toBe("NON-COMPLIANT");
    await command(world, "attestations", { removeBefore, quietDays: "20" });
    await command(world, "trail_events", { removeBefore, quietDays: "20" });
    for (const table of ["attestations", "trail_events"] as const)
      expect((await months(world, table)).at(0)).toEqual(late);
    expect(await state("over")).toBe("NON-COMPLIANT");
    const left = (await world.org.reader.get(`/attestations/${world.org.name}?per_page=50`)).text;
    expect([left.includes('"ended"'), left.includes('"begun"')]).toEqual([true, false]);
  });

  it("leaves a database that can be restored: what lost its reports is not judged again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "waybill-removal-"));
    const target = await restoreTarget(folder);
    try {
      const { findings } = await target.restore(await makeBackup(world.app, join(folder, "backup.tar")));
      expect(findings).toEqual([]);
    } finally {
      await target.remove();
      await rm(folder, { recursive: true });
    }
  });

  it("has a later report judged by what is left", async () => {
    await tell(world, "over", "ended");
    // The failure is gone with its month, and so is what the template asks for.
    expect(await state("over")).toBe("INCOMPLETE");
  });
});

describe.skipIf(isElsewhere)("removing a month of the audit log", () => {
  let world: World;
  /** An organization that wrote nothing at the turn of the month. */
  let plain: TestOrg;
  let folder: string;
  const writeFlows = async (org: TestOrg, prefix: string): Promise<void> => {
    for (let nth = 0; nth < 5; nth += 1)
      expect((await putFlow(org.member, org.name, { name: `${prefix}-${nth}` }, template)).status).toBe(201);
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "waybill-removal-"));
    world = await startWorld({ WAYBILL_AUDIT_TO: `file://${folder}/log` });
    const { org } = world;
    await createPolicy(org, "known", policyText("provenance: {required: true}"));
    await createEnvironment(org, "prod", { type: "server" });
    await attachPolicies(org, "prod", "known");
    await run(world, "prod", "web");
    // The environment says nothing after this.
    await build(world, "web");
    plain = await world.app.org();
    await writeFlows(plain, "early");
    await writeAtTurn(world);
    goTo(world, turn + 60 * day);
    for (const each of [plain, org]) await writeFlows(each, "late");
    await divideTables(world.app.deps.db, world.app.clock);
  });
  afterAll(async () => {
    await world.app.close();
    await rm(folder, { recursive: true });
  });

  const notSent = /still needed by file:.*, where entries of it have not arrived/;

  it("is refused to who was not told where it is sent to, as long as servers know it", async () => {
    const { deps } = world.app;
    const untold = { ...deps, config: { ...deps.config, auditTargets: [] } };
    await rm(folder, { recursive: true });
    await pushAuditLogs(deps);
    await expect(partition(untold, "audit_log", { removeBefore })).rejects.toThrow(notSent);
    const given = { quietSince: deps.clock.now(), targets: [], most: 1 };
    expect(await listNeeds(deps.db, "audit_log", early, given)).toHaveLength(1);
    // Nobody has named it since.
    expect(
      await listNeeds(deps.db, "audit_log", early, { ...given, quietSince: given.quietSince + 1 }),
    ).toEqual([]);
    await mkdir(folder);
  });

  it("is refused until all of it was sent to where it is to be kept", async () => {
    const refused = command(world, "audit_log", { removeBefore });
    await expect(refused).rejects.toThrow(notSent);
    await pushAuditLogs(world.app.deps);
    const sent = (await readFile(join(folder, "log"), "utf8")).trimEnd().split("\n").length;
    const { rows } = await world.app.deps.db.pool.query<{ n: number }>(
      "select count(*)::int as n from audit_log",
    );
    expect(sent).toBe(rows[0]?.n);
    await command(world, "audit_log", { removeBefore });
    expect((await months(world, "audit_log")).at(0)).toEqual(late);
  });

  it("hides from no environment that something happened since it was judged", async () => {
    expect((await getSnapshot(world.org, "prod")).compliant).toBe(false);
    await run(world, "prod", "web");
    expect((await getSnapshot(world.org, "prod")).compliant).toBe(true);
    // And once is enough.
    const { status } = await reportServer(world.org, "prod", ["web"]);
    expect(status).toBe(200);
  });

  it("leaves pages of what is left", async () => {
    const left = await pagesOfRows(world, plain);
    expect(await readPages(plain, "asc")).toEqual(left.asc);
    expect(await readPages(plain, "desc")).toEqual(left.desc);
  });

  it("leaves pages of what is left where numbers are missing between others", async () => {
    const left = await pagesOfRows(world, world.org);
    expect(await readPages(world.org, "asc")).toEqual(left.asc);
    expect(await readPages(world.org, "desc")).toEqual(left.desc);
  });

  it("leaves a log that can be restored, though entries at the turn of the month are on either side of it", async () => {
    const target = await restoreTarget(folder);
    try {
      const { findings } = await target.restore(await makeBackup(world.app, join(folder, "backup.tar")));
      expect(findings).toEqual([]);
    } finally {
      await target.remove();
    }
  });
});
