import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { eventStreamType } from "../../src/contract/event-stream.ts";
import { endpoints } from "../../src/contract/index.ts";
import { beginningOf, monthOfPartition, partitionedTables } from "../../src/domain/partitions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { createControl } from "../support/controls.ts";
import { repoId } from "../support/deployments.ts";
import { divideTables } from "../support/divide.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";
import { listenTo } from "../support/listening.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { makeBackup, restoreTarget } from "../support/restoring.ts";
import { reportServer } from "../support/snapshots.ts";
import { listen } from "../support/sockets.ts";

/** A server on divided tables, and one on plain ones, to which the same happened at the same moments. */
interface World {
  app: TestApp;
  org: TestOrg;
}

let divided: World;
let plain: World;
const worlds = (): World[] => [divided, plain];

const day = 86_400;
/** The months in which something happens. */
const months = [8, 9, 10].map((month) => ({ year: 2026, month }));
/** Twenty seconds before the first one ends. */
const begun = beginningOf(months[1]!) - 20;

/** Requires that something was done. The next thing is done a second later. */
async function made({ app }: World, answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer;
  expect([status < 300, text]).toEqual([true, text]);
  app.clock.advance(1);
}

function onRun(world: World, kind: string, body: Record<string, unknown>, trail = "run"): Promise<void> {
  const { org } = world;
  return made(world, attest(org.member, { org: org.name, flow: "web", trail }, kind, body));
}

function build(world: World, name: string, trail: string): Promise<void> {
  const { org } = world;
  const body = artifactBody({
    fingerprint: fingerprintOf(name),
    filename: name,
    trail_name: trail,
    template_reference_name: "cli",
    git_commit: commitOf("one"),
    repo_info: repoInfo("shop"),
  });
  return made(world, org.member.post(`/artifacts/${org.name}/web`, body));
}

/** What a company does, over the ends of two months. */
async function live(world: World): Promise<void> {
  const { app, org } = world;
  await made(world, putFlow(org.member, org.name, { name: "web" }, sampleTemplate));
  for (const name of ["prod", "test"]) await createEnvironment(org, name, { type: "server" });
  await createPolicy(org, "tested", policyText("attestations: [{name: foo, type: generic}]"));
  await attachPolicies(org, "prod", "tested");
  await createControl(org, "SC-1");
  await made(
    world,
    putTrail(org.member, `${org.name}/web`, { name: "run", git_commit_info: commitInfo(commitOf("one")) }),
  );
  await build(world, "cli", "run");
  await onRun(world, "generic", {
    attestation_name: "foo",
    artifact_fingerprint: fingerprintOf("cli"),
    is_compliant: false,
  });
  await onRun(world, "junit", { attestation_name: "bar", junit_results: [] });
  await made(world, reportServer(org, "prod", ["cli", "stray"]));
  // The month is another one.
  app.clock.advance(beginningOf(months[1]!) + 1 - app.clock.now());
  await onRun(world, "generic", { attestation_name: "bar", is_compliant: true });
  await onRun(world, "override", {
    attestation_name: "foo",
    artifact_fingerprint: fingerprintOf("cli"),
    reason: "agreed",
    new_compliance_status: true,
    original_attestation_type: "generic",
  });
  await made(world, reportServer(org, "prod", ["cli", "stray"]));
  await build(world, "next", "then");
  await onRun(
    world,
    "generic",
    {
      attestation_name: "waits",
      is_compliant: true,
      target_artifacts: ["cli"],
      git_commit_info: commitInfo(commitOf("two")),
    },
    "then",
  );
  await made(world, reportServer(org, "test", ["next"]));
  app.clock.advance(40 * day);
  await onRun(world, "system", {
    attestation_name: "agreed",
    type_name: "decision",
    control: "SC-1",
    attestation_data: { is_compliant: true },
  });
  await onRun(world, "generic", { attestation_name: "extra", is_compliant: false }, "then");
  await made(world, putTrail(org.member, `${org.name}/web`, { name: "run", description: "over two months" }));
  await made(world, reportServer(org, "prod", ["next"]));
  await made(world, reportServer(org, "test", ["next", "cli"]));
}

async function startWorld(isDivided: boolean): Promise<World> {
  const app = await startTestApp({}, { maintained: true, idsByClock: true });
  app.clock.freeze();
  app.clock.advance(begun - app.clock.now());
  if (isDivided) await divideTables(app.deps.db, app.clock);
  const world = { app, org: await app.org() };
  await live(world);
  return world;
}

beforeAll(async () => {
  divided = await startWorld(true);
  plain = await startWorld(false);
});
afterAll(async () => {
  for (const { app } of worlds()) await app.close();
});

/** The text without what is made up at random: each such name by when it is first seen. */
function masked({ org }: World, text: string): string {
  const seen = new Map<string, string>();
  const random =
    /\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{8}(?:[0-9a-f]{4})?\b|\b(?:user|org|req)-[a-z0-9-]+/g;
  return text.replaceAll(org.name, "the-org").replaceAll(random, (name) => {
    const known = seen.get(name) ?? `random-${seen.size}`;
    seen.set(name, known);
    return known;
  });
}

/** Asks both the same. */
async function asked(pathOf: (world: World) => string | Promise<string>): Promise<[number, string][]> {
  const answers = [];
  for (const world of worlds()) {
    const { status, text } = await world.org.admin.get(await pathOf(world));
    answers.push([status, masked(world, text)] as [number, string]);
  }
  return answers;
}

const values: Record<string, string> = {
  flow_name: "web",
  trail_name: "run",
  fingerprint: fingerprintOf("cli"),
  env_name: "prod",
  attestation_name: "bar",
  snapshot_expression: "-1",
  identifier: "SC-1",
  policy_name: "tested",
  commit_sha: commitOf("one"),
  search_value: commitOf("one").slice(0, 8),
  "repo_name...": "shop",
  resource_type: "flow",
  resource_id: "web",
};
/** What has to be in the query of some. */
const queries: Record<string, string> = {
  "/env-diff/{org}": "?snappish1=prod%231&snappish2=prod%233",
  "/search/{org}": "?q=run",
  "/asserts/{org}/fingerprint/{fingerprint}": "?environment_name=prod",
  "/attestations/{org}/list_attestations_for_criteria": "?flow_name=web",
};

const reads = Object.entries(endpoints as Record<string, Endpoint>).filter(
  ([, { method, access, responses, showsSecret }]) =>
    method === "GET" &&
    showsSecret === undefined &&
    access.kind === "organization" &&
    responses[200]?.schema !== undefined &&
    responses[200].contentType !== eventStreamType,
);

async function pathFor({ path }: Endpoint, { org }: World): Promise<string> {
  const repo = path.includes("{repo}") ? await repoId(org, "shop") : "";
  const filled = path.replaceAll(/\{([\w.]+)\}/g, (_, name: string) =>
    name === "org" ? org.name : name === "repo" ? repo : (values[name] ?? "1"),
  );
  return filled + (queries[path] ?? "");
}

describe.skipIf(inject("cluster") || inject("divided"))("a server on tables divided by months", () => {
  it("has rows in each month, and none besides", async () => {
    for (const table of partitionedTables) {
      const { rows } = await divided.app.deps.db.pool.query<{ name: string }>(
        `select distinct tableoid::regclass::text as name from ${table} order by 1`,
      );
      expect(rows.map(({ name }) => monthOfPartition(table, name))).toEqual(months);
    }
  });

  const found: string[] = [];
  it.each(reads)("answers %s as on plain tables", async (id, endpoint) => {
    const [one, other] = await asked((world) => pathFor(endpoint, world));
    expect(one).toEqual(other);
    if (one?.[0] === 200) found.push(id);
  });
  it("was asked for what there is by nearly all of them", () =>
    expect(found.length).toBeGreaterThan(reads.length - 20));

  it.each([
    "/attestations/{org}?per_page=2&page=2",
    "/attestations/{org}?flow_name=web&attestation_type=generic",
    "/attestations/{org}?compliant=false",
    "/attestations/{org}/web?per_page=3",
    "/attestations/{org}/web/artifact/{cli}/foo",
    "/audit-log/{org}?per_page=4&page=3",
    "/audit-log/{org}?sort_direction=asc&per_page=4",
    "/audit-log/{org}?action=post_generic_attestation",
    `/audit-log/{org}?from_timestamp=${begun + 5}&to_timestamp=${begun + 25}`,
    "/audit-log/{org}/export?format=jsonl",
    "/trails/{org}?search=run",
    "/trails/{org}/web/then",
    "/trails/{org}/web/then/explain",
    "/artifacts/{org}/web/fingerprint/{next}",
    "/asserts/{org}/fingerprint/{next}?environment_name=prod",
    "/environments/{org}/prod/explain",
    "/snapshots/{org}/prod/1",
    "/controls/{org}/SC-1/decisions",
    "/search/{org}?q=bar",
  ])("answers %s as on plain tables", async (path) => {
    const [one, other] = await asked(({ org }) =>
      path
        .replace("{org}", org.name)
        .replace("{cli}", fingerprintOf("cli"))
        .replace("{next}", fingerprintOf("next")),
    );
    expect(one?.[0]).toBe(200);
    expect(one).toEqual(other);
  });

  it("tells of changes as they happen", async () => {
    const { app, org } = divided;
    const listening = await listenTo(await listen(app), org, org.reader.key, {});
    await onRun(divided, "generic", { attestation_name: "late", is_compliant: true });
    expect(await listening.hears("trail", "web/run")).toMatchObject({ event: "change" });
    listening.stop();
  });

  it("is backed up and restored, with all months of all tables", async () => {
    const folder = await mkdtemp(join(tmpdir(), "waybill-divided-"));
    const target = await restoreTarget(folder);
    try {
      const file = await makeBackup(divided.app, join(folder, "backup.tar"));
      const { warnings } = await target.restore(file);
      expect(warnings.filter((text) => text.includes("was divided by months"))).toHaveLength(3);
      const count = partitionedTables.map((table) => `(select count(*)::int from ${table}) as ${table}`);
      const counts = `select ${count.join(", ")}`;
      const { rows: kept } = await divided.app.deps.db.pool.query(counts);
      expect(await target.opened(async (db) => (await db.pool.query(counts)).rows)).toEqual(kept);
    } finally {
      await target.remove();
      await rm(folder, { recursive: true });
    }
  });
});
