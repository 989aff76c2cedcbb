// Versions of artifacts from before migration `0072` have their flows, findings and whole documents where they were.
import { readFile } from "node:fs/promises";

import { afterAll, beforeAll, expect, it } from "vitest";

import { splitStatements } from "../../src/db/sql-statements.ts";
import { printFlows } from "../../src/domain/snapshot/print.ts";
import type { SnapshotFlow } from "../../src/domain/snapshot/provenance.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { writeUnguarded } from "../support/unguarded.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
});
afterAll(() => app.close());

/** Two environments that are reported on alike. What is recorded of the first is made to be as it was written before. */
const environments = ["former", "present"] as const;

const reports = [
  ["one", "two", "stray"],
  ["one", "three", "stray"],
  ["two", "three"],
  ["one", "two", "three"],
];

async function report(names: readonly string[]): Promise<void> {
  for (const environment of environments)
    expect((await reportServer(org, environment, names.map(runs))).status).toBe(201);
}

function runs(name: string) {
  return { name, fingerprint: fingerprintOf(name), started: [1_700_000_000] };
}

/** Writes the rows of an environment as the program before `0072` did, and its index anew. */
async function makeFormer(environment: string): Promise<void> {
  const { pool } = app.deps.db;
  const id = (
    await pool.query<{ id: string }>("select id from environments where org_id = $1 and name = $2", [
      org.id,
      environment,
    ])
  ).rows[0]!.id;
  const documents = await pool.query<{ id: string; doc: string; flows: SnapshotFlow[]; fingerprint: string }>(
    `select d.id, d.doc, d.flows, a.fingerprint from snapshot_documents d
    join snapshot_artifacts a using (org_id, environment_id, id) where d.environment_id = $1`,
    [id],
  );
  expect(documents.rows.every(({ doc }) => doc.includes("\u0004"))).toBe(true);
  await writeUnguarded(app, async (client) => {
    await client.query(
      `update snapshot_artifacts a
      set running = o.running, flows = d.flows, findings = f.findings, digest = o.digest, facts = o.facts, follows = o.follows,
        flow_ids = null
      from snapshot_artifacts o join snapshot_documents d using (org_id, environment_id, id)
      join snapshot_decisions f on f.org_id = o.org_id and f.environment_id = o.environment_id and f.digest = o.decisions_digest
      where a.environment_id = $1 and o.org_id = a.org_id and o.environment_id = a.environment_id
        and o.id = coalesce(a.repeats, a.id)`,
      [id],
    );
    for (const row of documents.rows)
      await client.query(
        "update snapshot_documents set doc = $3, flows = null where environment_id = $1 and id = $2",
        [id, row.id, row.doc.replace("\u0004", () => printFlows(row.flows, row.fingerprint))],
      );
    // Digests were of decisions alone, so others than today's.
    await client.query(
      "update snapshot_decisions set findings = null, digest = 'of ' || digest where environment_id = $1",
      [id],
    );
    await client.query(
      "update snapshot_artifacts set decisions_digest = 'of ' || decisions_digest where environment_id = $1",
      [id],
    );
  });
  const migration = await readFile(
    new URL("../../migrations/0072-flows-beside-documents.sql", import.meta.url),
    "utf8",
  );
  for (const statement of splitStatements(migration.slice(migration.indexOf("drop index"))))
    await pool.query(statement);
}

/** All that can be read of an environment, but for its name, ids and when it was reported on. */
async function answersOf(environment: string): Promise<unknown> {
  const paths = [
    ...[1, 2, 3, 4, 5, 6].flatMap((index) => [
      `/snapshots/${org.name}/${environment}/${index}`,
      `/snapshots/${org.name}/${environment}/${index}/artifacts?sort=started_at`,
    ]),
    `/environments/${org.name}/${environment}/events?per_page=100`,
    `/events/${org.name}?environment=${environment}&flow=cd`,
    `/events/${org.name}?environment=${environment}`,
    `/env-diff/${org.name}?snappish1=${environment}%231&snappish2=${environment}%234`,
    `/env-diff/${org.name}?snappish1=${environment}%232&snappish2=${environment}%233&detail=true`,
    `/running/${org.name}?environment=${environment}&sort=name`,
    `/deployments/${org.name}?environment=${environment}`,
  ];
  const answers = [];
  for (const path of paths) {
    const { status, json } = await org.reader.get(path);
    const text = JSON.stringify(json)
      .replaceAll(environment, "E")
      .replaceAll(/"(\w*timestamp|\w*_at|from|to|at)":[\d.]+/g, '"$1":0');
    answers.push([path.replaceAll(environment, "E"), status, JSON.parse(text)]);
  }
  return answers;
}

it("are shown, compared and ended as those of today", async () => {
  for (const flow of ["ci", "cd"])
    expect((await putFlow(org.member, org.name, { name: flow })).status).toBe(201);
  for (const [name, flow] of [
    ["one", "ci"],
    ["one", "cd"],
    ["two", "cd"],
    ["three", "ci"],
  ] as const)
    await org.member.post(
      `/artifacts/${org.name}/${flow}`,
      artifactBody({
        fingerprint: fingerprintOf(name),
        trail_name: `${flow}-1`,
        template_reference_name: "web",
      }),
    );
  await createPolicy(org, "known", policyText("provenance: {required: true}"));
  for (const environment of environments) {
    await createEnvironment(org, environment, { type: "server" });
    await attachPolicies(org, environment, "known");
  }
  for (const names of reports) await report(names);
  await makeFormer("former");
  expect(await answersOf("former")).toEqual(await answersOf("present"));
  // What was written before goes on, exits and is compared with.
  await report(["three", "stray"]);
  await report(["one", "three"]);
  const answers = (await answersOf("former")) as [string, number, unknown][];
  expect(answers).toEqual(await answersOf("present"));
  expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  expect(JSON.stringify(answers)).toContain('"flow_name":"cd"');
});
