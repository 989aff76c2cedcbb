import fc from "fast-check";
import { expect } from "vitest";

import type { CreateArtifact } from "../../src/contract/artifacts.ts";
import { transaction } from "../../src/db/transaction.ts";
import { reportArtifacts } from "../../src/modules/process/artifacts/service.ts";
import { recordAttestations } from "../../src/modules/process/attestations/service.ts";
import { ensureFlows } from "../../src/modules/process/flows/ensure.ts";
import { ensureTrails, trailKey } from "../../src/modules/process/trails/ensure.ts";
import type { TestApp, TestOrg } from "./app.ts";
import { artifactBody, commitOf, fingerprintOf } from "./artifacts.ts";
import { putFlow, putTrail } from "./flows.ts";

/** Templates of the flow that histories are of. */
export const templates = [
  "version: 1\n",
  "version: 1\ntrail:\n  attestations:\n    - name: a\n      type: generic\n",
  "version: 1\ntrail:\n  attestations:\n    - {name: a, type: junit}\n  artifacts:\n    - name: '2'\n      attestations: [{name: a, type: '*'}]\n    - name: '1'\n",
  "version: 1\ntrail:\n  attestations:\n    - {name: a, type: decision}\n  artifacts:\n    - name: web\n      attestations: [{name: a, type: generic}, {name: b, type: decision}]\n",
];

const trailName = fc.constantFrom("t1", "t2");
const artifactName = fc.constantFrom("1", "2", "web");
const word = fc.constantFrom("one", "two");

/** Any one thing that is reported to a flow. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant("begin" as const),
    trail: trailName,
    template: fc.option(fc.constantFrom(...templates)),
  }),
  fc.record({
    kind: fc.constant("artifacts" as const),
    reports: fc.array(
      fc.record({ trail: trailName, name: artifactName, print: word, commit: fc.option(word) }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  }),
  fc.record({
    kind: fc.constant("attestations" as const),
    reports: fc.array(
      fc.record({
        trail: trailName,
        name: fc.constantFrom("a", "b"),
        type: fc.constantFrom("generic", "junit", "system:decision"),
        control: fc.constantFrom("C-1", "C-2"),
        is_compliant: fc.boolean(),
        is_override: fc.boolean(),
        print: fc.option(word),
        targets: fc.option(fc.uniqueArray(artifactName, { minLength: 1, maxLength: 2 })),
        commit: fc.option(word),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** An artifact to be reported. */
export interface Reported {
  trail: string;
  name: string;
  print: string;
  commit: string | null;
}

/** An attestation to be made. */
export interface Attest extends Omit<Reported, "print"> {
  type: string;
  is_compliant: boolean;
  is_override: boolean;
  print: string | null;
  targets: string[] | null;
  /** Of a decision. */
  control?: string;
}

const actor = { id: null, name: "Ann" };

/** Reports artifacts in one transaction. */
export function reportAll({ deps }: TestApp, org: TestOrg, reports: readonly Reported[]) {
  return transaction(deps.db, (tx) =>
    reportArtifacts(
      deps,
      tx,
      org.id,
      reports.map(({ trail, name, print, commit }) => ({
        flow_name: "flow",
        actor,
        artifact: artifactBody({
          fingerprint: fingerprintOf(print),
          trail_name: trail,
          template_reference_name: name,
          git_commit: commit === null ? null : commitOf(commit),
        }) as CreateArtifact,
      })),
    ),
  );
}

/** Attests in one transaction; those whose artifact is not on the trail are left out. */
export function attestAll({ deps }: TestApp, org: TestOrg, reports: readonly Attest[]) {
  return transaction(deps.db, async (tx) => {
    const at = deps.clock.now();
    const flow = { name: "flow", created_by_name: "Ann", created_at: at };
    const flow_id = (await ensureFlows(deps, tx, org.id, [flow])).get("flow")!;
    const places = reports.map(({ trail }) => ({
      flow_id,
      name: trail,
      repo_id: null,
      reported_at: at,
      git_commit_info: null,
      created_by: actor,
    }));
    const trails = await ensureTrails(deps, tx, org.id, places);
    const { rows } = await deps.db.pool.query(
      "select trail_id, fingerprint from artifacts where org_id = $1",
      [org.id],
    );
    const known = new Set(rows.map((row) => `${row.trail_id}/${row.fingerprint}`));
    const placed = reports.map((report, index) => {
      const trail_id = trails.get(trailKey(places[index]!))!.id;
      const print = report.print === null ? null : fingerprintOf(report.print);
      return {
        to: {
          org: { id: org.id, name: org.name },
          flow: { id: flow_id, name: "flow" },
          trail: { id: trail_id, name: report.trail },
        },
        input: {
          name: report.name,
          type: report.type,
          is_compliant: report.is_compliant,
          is_override: report.is_override,
          artifact_fingerprint: print !== null && known.has(`${trail_id}/${print}`) ? print : null,
          target_artifacts: report.targets,
          git_commit_info: report.commit === null ? null : { sha1: commitOf(report.commit) },
          type_data: {},
          control_identifier:
            report.type === "system:decision" && !report.is_override ? report.control : null,
          reported_by: "Ann",
        },
      };
    });
    await recordAttestations(deps, tx, org.id, placed);
  });
}

/** Does a step of a history, through the API where that is simple. */
async function take(app: TestApp, org: TestOrg, step: Step): Promise<void> {
  if (step.kind === "begin") {
    const answer = await putTrail(
      org.member,
      `${org.name}/flow`,
      { name: step.trail },
      step.template ?? undefined,
    );
    expect(answer.status).toBeLessThan(300);
  } else if (step.kind === "artifacts") await reportAll(app, org, step.reports);
  else await attestAll(app, org, step.reports);
}

/** Has `check` look at an organization after every step of any history. */
export function afterEveryStep(app: TestApp, check: (org: TestOrg) => Promise<void>): Promise<void> {
  return fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...templates),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (template, steps) => {
        const org = await app.org();
        await putFlow(org.member, org.name, { name: "flow" }, template);
        for (const one of steps) {
          await take(app, org, one);
          await check(org);
        }
      },
    ),
    { numRuns: 40 },
  );
}
