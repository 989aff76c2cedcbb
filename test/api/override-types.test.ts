import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import type { Actor } from "../../src/domain/principal.ts";
import type { KindOfAttestation } from "../../src/modules/process/attestations/new-attestation.ts";
import { reportAttestation } from "../../src/modules/process/attestations/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { putFlow } from "../support/flows.ts";
import { createPolicy, policyText } from "../support/policies.ts";
import { statementNamesOf } from "../support/statements.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
  const template = "version: 1\ntrail:\n  attestations: [{name: scan, type: generic}]\n";
  await putFlow(org.member, org.name, { name: "web-ci" }, template);
});

const commit = commitOf("one");
const fingerprint = fingerprintOf("api");

const failing = { attestation_name: "scan", is_compliant: false };
const report = (body: object = failing, kind = "generic") =>
  attest(org.member, { org: org.name }, kind, { attestation_name: "scan", ...body });
const override = (new_compliance_status: boolean, original_attestation_type: string, more: object = {}) =>
  report({ reason: "known", new_compliance_status, original_attestation_type, ...more }, "override");
const artifact = () =>
  org.member.post(
    `/artifacts/${org.name}/web-ci`,
    artifactBody({ fingerprint, git_commit: commit, trail_name: "run", template_reference_name: "api" }),
  );
const trail = async () => (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
const read = async (path = "trail/run") =>
  (await org.reader.get(`/attestations/${org.name}/web-ci/${path}/scan`)).json;

/** Of the row of `scan`: its type and verdict, and whether it replaced another. */
async function shown(part?: "api"): Promise<unknown[]> {
  const { compliance_status: status } = await trail();
  const { attestations_statuses: rows } = part === undefined ? status : status.artifacts_statuses[part];
  const row = rows.find((one: Record<string, unknown>) => one["attestation_name"] === "scan");
  return [row.attestation_type, row.is_compliant, row.overridden_attestation_id !== null];
}

/** Reports to the trail in this order and together, as far as the queue does. */
function together(kinds: readonly (KindOfAttestation & { name?: string })[]): Promise<string[]> {
  const actor: Actor = {
    kind: "system",
    id: null,
    name: "Ann",
    api_key_id: null,
    action: "report",
    request_id: "req-1",
    request_digest: null,
  };
  return Promise.all(
    kinds.map(({ name: attestation_name = "scan", ...kind }) =>
      reportAttestation(app.deps, org, {
        flow_name: "web-ci",
        trail_name: "run",
        common: { attestation_name },
        kind,
        actor,
        bodyBytes: 1,
      }),
    ),
  );
}
const generic = (is_compliant: boolean) => ({ type: "generic", is_compliant, type_data: {} });
const mistaken = (is_compliant: boolean) => ({
  type: "snyk",
  is_compliant,
  is_override: true,
  type_data: {},
});

describe("an override that is said to be of another type", () => {
  it("acts on what the template asks for, in both directions", async () => {
    await report();
    for (const verdict of [true, false, true]) {
      expect((await override(verdict, "snyk")).json).toBe("OK");
      expect(await shown()).toEqual(["generic", verdict, true]);
      expect((await trail()).compliance_state).toBe(verdict ? "COMPLIANT" : "NON-COMPLIANT");
      expect((await read()).at(-1)).toMatchObject({
        attestation_type: "generic",
        // As it was said.
        original_attestation_type: "snyk",
      });
    }
  });

  it("keeps the type that is stated where nothing was reported", async () => {
    await override(true, "snyk");
    expect(await shown()).toEqual(["generic", null, false]);
    await override(true, "generic");
    expect(await shown()).toEqual(["generic", true, false]);
  });

  it("acts on what comes just before it, on trails of a few reports and of many", async () => {
    for (let round = 0; round < 3; round += 1) {
      const others = Array.from({ length: 60 }, (_, n) => ({ ...generic(true), name: `other-${n}` }));
      await together([...others, generic(false), mistaken(true)]);
      expect(await shown()).toEqual(["generic", true, true]);
      await together([generic(true), mistaken(true), mistaken(false)]);
      expect(await shown()).toEqual(["generic", false, true]);
    }
    expect((await override(true, "junit")).status).toBe(200);
    expect(await shown()).toEqual(["generic", true, true]);
  });

  it.each([
    ["by its fingerprint", "by its fingerprint"],
    ["by its fingerprint", "by name and commit"],
    ["by name and commit", "by its fingerprint"],
    ["by name and commit", "by name and commit"],
  ])("acts on what is reported of an artifact %s when it is bound %s", async (first, second) => {
    const bindings: Record<string, object> = {
      "by its fingerprint": { artifact_fingerprint: fingerprint },
      "by name and commit": { target_artifacts: ["api"], git_commit_info: commitInfo(commit) },
    };
    await artifact();
    // Of the same name in other places.
    const other = { target_artifacts: ["api"], git_commit_info: commitInfo(commitOf("two")) };
    await report({ junit_results: [], ...other }, "junit");
    await report({ is_compliant: true });
    await report(
      {
        attestation_data: { is_compliant: false },
        type_name: "decision",
        control: "C-1",
        ...bindings[first],
      },
      "system",
    );
    await override(true, "snyk", bindings[second]);
    expect(await shown("api")).toEqual(["system:decision", true, true]);
    expect((await trail()).compliance_state).toBe("COMPLIANT");
    const [original, last] = (await read(`artifact/${fingerprint}`)).slice(-2);
    expect(last.overridden_attestation_id).toBe(original.attestation_id);
  });

  it("is found by policies that ask for the type it has", async () => {
    await createPolicy(org, "p", policyText("attestations:", "  - {type: generic, name: scan}"));
    await artifact();
    await report({ ...failing, artifact_fingerprint: fingerprint });
    const path = `/asserts/${org.name}/fingerprint/${fingerprint}?policy_name=p`;
    for (const verdict of [true, false]) {
      await override(verdict, "junit", { artifact_fingerprint: fingerprint });
      expect((await org.reader.get(path)).json.compliant).toBe(verdict);
    }
  });

  it("takes no statement more where its trail is remembered, and one where it is not", async () => {
    await report();
    expect(await statementNamesOf(app, () => override(true, "snyk"))).toEqual(["write-attestations"]);
    await together(Array.from({ length: 101 }, () => generic(false)));
    const names = await statementNamesOf(app, () => override(true, "snyk"));
    expect(names.filter((name) => name === "override-cases")).toHaveLength(1);
    expect(await statementNamesOf(app, () => report())).not.toContain("override-cases");
  });
});
