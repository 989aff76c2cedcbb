import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";
import { type Running, reportServer } from "../support/snapshots.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/**
 * Two environments that everything happens to alike. What `judged` knows is taken away before each of its reports, so that
 * it has to judge everything.
 */
const environments = ["kept", "judged"] as const;

const print = fc.constantFrom("one", "two", "three", "four");
const flow = fc.constantFrom("ci", "cd");
const trail = fc.constantFrom("t1", "t2");
const attestationName = fc.constantFrom("unit", "scan");
const templateName = fc.constantFrom("web", "api");

const policyTexts = [
  policyText("provenance: {required: true, exceptions: [{if: \"artifact.name == 'one-b'\"}]}"),
  policyText("trail-compliance: {required: true, exceptions: [{if: \"flow.tags.kind == 'trusted'\"}]}"),
  policyText(
    "attestations: [{type: generic, name: unit}, {type: '*', name: scan, must_be_compliant: false}]",
  ),
  policyText("attestations: [{type: decision, if: \"flow.name == 'ci'\"}]"),
];
const policy = fc.constantFrom("p", "q");

const trailTemplates = [
  "version: 1\n",
  "version: 1\ntrail:\n  attestations: [{name: unit, type: '*'}]\n  artifacts: [{name: web, attestations: [{name: scan, type: generic}]}]\n",
];

const running = fc.uniqueArray(
  fc.record({
    print,
    name: fc.constantFrom("a", "b"),
    started: fc.constantFrom<number[][]>([5], [5, 9], [7]),
  }),
  { maxLength: 5, selector: (each) => `${each.print} ${each.name}` },
);

/** What may happen; reports of what runs most often, half of them of what ran before. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("report" as const), running }) },
  { weight: 6, arbitrary: fc.constant({ kind: "again" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("artifact" as const),
      print,
      flow,
      trail,
      name: templateName,
      commit: fc.constantFrom("x", "y"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("attest" as const),
      flow,
      trail,
      name: attestationName,
      type: fc.constantFrom("generic", "override"),
      compliant: fc.boolean(),
      print: fc.option(print),
      target: fc.option(templateName),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("trail" as const),
      flow,
      trail,
      template: fc.constantFrom(...trailTemplates),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("tag" as const),
      flow,
      value: fc.constantFrom("trusted", "other"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const), flow }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("attach" as const), policy }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("detach" as const), policy }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("version" as const),
      policy,
      text: fc.constantFrom(...policyTexts),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("allow" as const), print }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("disallow" as const), print }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** An organization, what runs in its environments, and the present names of its flows. */
interface World {
  org: TestOrg;
  running: Running;
  flows: Record<string, string>;
}

async function forget(org: TestOrg, environment: string): Promise<void> {
  const { pool } = app.deps.db;
  const where =
    "org_id = $1 and environment_id = (select id from environments where org_id = $1 and name = $2)";
  await pool.query(`update environment_reports set report_digest = '', judged_by = '' where ${where}`, [
    org.id,
    environment,
  ]);
  await pool.query(
    `update snapshot_artifacts set facts = 'unknown'
      where ${where} and last_index is null and facts <> 'unknown'`,
    [org.id, environment],
  );
}

async function report({ org, running: reported }: World): Promise<void> {
  const kept = await reportServer(org, "kept", reported);
  await forget(org, "judged");
  const judged = await reportServer(org, "judged", reported);
  expect([200, 201]).toContain(judged.status);
  expect(kept.status).toBe(judged.status);
}

async function attestStep(world: World, step: Step & { kind: "attest" }): Promise<Answer> {
  const { org, flows } = world;
  const place = { org: org.name, flow: flows[step.flow]!, trail: step.trail };
  const bound = step.print === null ? {} : { artifact_fingerprint: fingerprintOf(step.print) };
  if (step.type === "override")
    return attest(org.member, place, "override", {
      attestation_name: step.name,
      reason: "agreed",
      new_compliance_status: step.compliant,
      original_attestation_type: "generic",
      ...bound,
    });
  const meant =
    step.print !== null || step.target === null
      ? {}
      : { target_artifacts: [step.target], git_commit_info: commitInfo(commitOf("x")) };
  const body = { attestation_name: step.name, is_compliant: step.compliant, ...bound, ...meant };
  return attest(org.member, place, "generic", body);
}

async function act(world: World, step: Step): Promise<void> {
  const { org, flows } = world;
  switch (step.kind) {
    case "report":
      world.running = step.running.map((each) => ({
        name: `${each.print}-${each.name}`,
        fingerprint: fingerprintOf(each.print),
        started: each.started,
      }));
      return report(world);
    case "again":
      return report(world);
    case "artifact": {
      const body = artifactBody({
        fingerprint: fingerprintOf(step.print),
        trail_name: step.trail,
        template_reference_name: step.name,
        git_commit: commitOf(step.commit),
      });
      expect((await org.member.post(`/artifacts/${org.name}/${flows[step.flow]}`, body)).status).toBe(201);
      return;
    }
    case "attest":
      // Some name artifacts that are not on the trail.
      expect([step.type === "override" ? 200 : 201, 404]).toContain((await attestStep(world, step)).status);
      return;
    case "trail": {
      const path = `${org.name}/${flows[step.flow]}`;
      expect((await putTrail(org.member, path, { name: step.trail }, step.template)).status).toBeLessThan(
        300,
      );
      return;
    }
    case "tag": {
      const tags = { set_tags: { kind: step.value } };
      await org.member.patch(`/tags/${org.name}/flow/${flows[step.flow]}`, tags);
      return;
    }
    case "rename": {
      const new_name = `${flows[step.flow]}x`;
      await org.member.put(`/flows/${org.name}/${flows[step.flow]}/rename`, { new_name });
      flows[step.flow] = new_name;
      return;
    }
    case "attach":
      for (const environment of environments) await attachPolicies(org, environment, step.policy);
      return;
    case "detach":
      for (const environment of environments)
        await org.member.delete(`/environments/${org.name}/${environment}/policies`, {
          policy_names: [step.policy],
        });
      return;
    case "version":
      await putPolicy(org.member, org.name, { name: step.policy }, step.text);
      await runPendingJobs(app);
      return;
    case "allow":
      for (const environment of environments)
        await org.member.put(`/allowlists/${org.name}/${environment}`, {
          artifact_fingerprint: fingerprintOf(step.print),
          artifact_name: step.print,
          description: "trusted",
        });
      return;
    case "disallow":
      for (const environment of environments)
        await org.member.delete(`/allowlists/${org.name}/${environment}/${fingerprintOf(step.print)}`);
      return;
  }
}

/** The whole record of an environment, but for when it was made. */
async function recordOf(org: TestOrg, environment: string): Promise<Record<string, unknown>[][]> {
  const tables = {
    snapshots:
      "index, compliant, type, cause, artifact_compliance_count, applied_policies, artifacts from snapshots order by index",
    snapshot_artifacts: `id, first_index, last_index, name, fingerprint, type, was, now, compliant, running, flow_ids, provenance,
      repo_ids, digest, follows, repeats, decisions_digest, event_number from snapshot_artifacts order by id`,
    snapshot_documents: "id, doc, flows from snapshot_documents order by id",
    snapshot_decisions: "digest, decisions, findings from snapshot_decisions order by digest",
    environment_lineage: `flow_id, template_reference_name, fingerprint, started_index, name, trail_name, git_commit,
      compliance_state from environment_lineage order by 1, 2, 3`,
  };
  const rows = Object.values(tables).map(async (text) => {
    const where =
      "where org_id = $1 and environment_id = (select id from environments where org_id = $1 and name = $2)";
    const statement = `select ${text.replace("order by", `${where} order by`)}`;
    return (await app.deps.db.pool.query<Record<string, unknown>>(statement, [org.id, environment])).rows;
  });
  return Promise.all(rows);
}

async function createWorld(): Promise<World> {
  const org = await app.org();
  for (const environment of environments) await createEnvironment(org, environment, { type: "server" });
  for (const name of ["ci", "cd"])
    expect((await putFlow(org.member, org.name, { name }, trailTemplates[1])).status).toBe(201);
  await createPolicy(org, "p", policyTexts[1]);
  await createPolicy(org, "q", policyTexts[2]);
  return { org, running: [], flows: { ci: "ci", cd: "cd" } };
}

const settings = { seed: 20261121, numRuns: amount(2, 5) };

it("reports lead to the same record whether or not they rely on what was judged before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 40 }), async (steps) => {
      const world = await createWorld();
      for (const each of steps) await act(world, each);
      await report(world);
      const [kept, judged] = await Promise.all(environments.map((name) => recordOf(world.org, name)));
      expect(kept).toEqual(judged);
    }),
    settings,
  );
}, 120_000);

/** What snapshots are made for, of what runs now. */
async function verdictsOf(org: TestOrg, environment: string): Promise<Record<string, unknown>[]> {
  const { rows } = await app.deps.db.pool.query<Record<string, unknown>>(
    `select name, compliant, (
      select d.findings from snapshot_decisions d
      where d.org_id = a.org_id and d.environment_id = a.environment_id and d.digest = a.decisions_digest) as findings,
      array(select unnest(provenance) order by 1)::text as provenance
    from snapshot_artifacts a
    where last_index is null and org_id = $1
      and environment_id = (select id from environments where org_id = $1 and name = $2)
    order by name`,
    [org.id, environment],
  );
  return rows;
}

it("reports miss nothing of what is said while they are taken", async () => {
  const world = await createWorld();
  const { org } = world;
  const names = ["one", "two", "three", "four"];
  world.running = names.map((name) => ({ name, fingerprint: fingerprintOf(name) }));
  for (const environment of environments) await attachPolicies(org, environment, "p", "q");
  const artifact = (name: string, flowName: string, trailName: string) => {
    const body = { fingerprint: fingerprintOf(name), trail_name: trailName, template_reference_name: name };
    return org.member.post(`/artifacts/${org.name}/${flowName}`, artifactBody(body));
  };
  for (const name of names) await artifact(name, "ci", name);
  for (let round = 0; round < 8; round += 1) {
    const said = names.flatMap((name, at) => [
      attest(org.member, { org: org.name, flow: "ci", trail: name }, "generic", {
        attestation_name: "unit",
        is_compliant: (round + at) % 2 === 0,
      }),
      artifact(name, "cd", `${name}-${round % 3}`),
      reportServer(org, "kept", world.running),
    ]);
    const answers = await Promise.all(said);
    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    await reportServer(org, "kept", world.running);
    await forget(org, "judged");
    await reportServer(org, "judged", world.running);
    expect(await verdictsOf(org, "kept")).toEqual(await verdictsOf(org, "judged"));
  }
}, 120_000);
