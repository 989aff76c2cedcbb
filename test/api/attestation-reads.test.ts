import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import type { AttestationInput } from "../../src/modules/process/attestations/new-attestation.ts";
import { recordAttestation } from "../../src/modules/process/attestations/service.ts";
import { ensureFlows } from "../../src/modules/process/flows/ensure.ts";
import { ensureTrails } from "../../src/modules/process/trails/ensure.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitSha } from "../support/quality-server.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const fingerprint = "abcde".padEnd(64, "0");

/** Records an attestation the way every kind of it is recorded; flow and trail are made as needed. */
async function attest(
  org: TestOrg,
  input: Partial<AttestationInput> = {},
  place: { flow: string; trail: string } = { flow: "ci", trail: "run" },
): Promise<string> {
  const { deps } = app;
  return transaction(deps.db, async (tx) => {
    const at = deps.clock.now();
    const made = { created_by_name: "Ann", created_at: at };
    const flow_id = (await ensureFlows(deps, tx, org.id, [{ name: place.flow, ...made }])).get(place.flow)!;
    const trail = {
      flow_id,
      name: place.trail,
      repo_id: null,
      reported_at: at,
      git_commit_info: null,
      created_by: { id: null, name: "Ann" },
    };
    const [ensured] = (await ensureTrails(deps, tx, org.id, [trail])).values();
    return recordAttestation(
      deps,
      tx,
      {
        org: { id: org.id, name: org.name },
        flow: { id: flow_id, name: place.flow },
        trail: { ...ensured!, name: place.trail },
      },
      { name: "unit", type: "generic", is_compliant: true, type_data: {}, reported_by: "Ann", ...input },
    );
  });
}

async function report(org: TestOrg, artifact: Record<string, unknown>): Promise<void> {
  const answer = await org.member.post(`/artifacts/${org.name}/ci`, {
    fingerprint,
    filename: "backend.tar",
    git_commit: commitSha(),
    build_url: "https://ci.example.org/1",
    commit_url: "https://git.example.org/1",
    template_reference_name: "backend",
    trail_name: "run",
    ...artifact,
  });
  expect(answer.status).toBe(201);
}

describe("an attestation", () => {
  it("is shown with every field of the contract", async () => {
    const org = await app.org();
    const before = app.clock.now();
    const sha1 = commitSha();
    const id = await attest(org, {
      type: "sonar",
      is_compliant: false,
      type_data: { sonar_results: { status: "SUCCESS", project: { key: "shop" } } },
      git_commit_info: { sha1, message: null, author: null, branch: "main", timestamp: null, url: null } as {
        sha1: string;
      },
      description: "why",
      origin_url: "https://ci.example.org/9",
      external_urls: { doc: { href: "https://doc.example.org" } },
      annotations: { key: "value" },
      user_data: { any: [1, null, { x: true }] },
    });
    const { status, json } = await org.reader.get(`/attestations/${org.name}/ci/trail/run/unit`);
    expect(status).toBe(200);
    expect(json).toEqual([
      {
        schema_version: 2,
        attestation_id: id.slice(0, 32),
        attestation_name: "unit",
        attestation_type: "sonar",
        is_compliant: false,
        origin_url: "https://ci.example.org/9",
        artifact_fingerprint: null,
        target_artifacts: null,
        git_commit_info: { sha1, message: null, author: null, branch: "main", timestamp: null, url: null },
        evidence_archive_path: null,
        evidence_archive_fingerprint: null,
        user_data: { any: [1, null, { x: true }] },
        description: "why",
        annotations: { key: "value" },
        external_urls: { doc: { href: "https://doc.example.org" } },
        created_at: expect.any(Number),
        sonar_results: { status: "SUCCESS", project: { key: "shop" } },
        html_url: `http://waybill.test/${org.name}/flows/ci/trails/run?attestation_id=${id.slice(0, 32)}`,
        flow_name: "ci",
        trail_name: "run",
        reported_by: "Ann",
        has_audit_package: false,
        _links: {
          self: { href: `http://waybill.test/api/v2/attestations/${org.name}/ci/trail/run/unit` },
        },
      },
    ]);
    expect(json[0].created_at).toBeGreaterThanOrEqual(before);
    expect(json[0].created_at).toBeLessThanOrEqual(app.clock.now());
  });

  it("has nulls, and empty user data, for what was not reported", async () => {
    const org = await app.org();
    await attest(org);
    const { json } = await org.reader.get(`/attestations/${org.name}/ci/trail/run/unit`);
    expect(json[0]).toMatchObject({
      origin_url: null,
      git_commit_info: null,
      user_data: {},
      description: null,
      annotations: null,
      external_urls: null,
    });
  });

  it("cannot pass off its own data as the common fields", async () => {
    const org = await app.org();
    await attest(org, { is_compliant: false, type_data: { is_compliant: true, reported_by: "x", more: 1 } });
    const { json } = await org.reader.get(`/attestations/${org.name}/ci/trail/run/unit`);
    expect(json[0]).toMatchObject({ is_compliant: false, reported_by: "Ann", more: 1 });
  });

  it("is never changed or removed", async () => {
    const org = await app.org();
    await attest(org);
    for (const sql of [
      "update attestations set is_compliant = false where org_id = $1",
      "delete from attestations where org_id = $1",
    ])
      await expect(app.deps.db.pool.query(sql, [org.id])).rejects.toThrow(
        "table attestations is insert-only",
      );
  });

  it("is refused when its artifact was not reported on the trail", async () => {
    const org = await app.org();
    await report(org, { trail_name: "another" });
    await expect(attest(org, { artifact_fingerprint: fingerprint })).rejects.toMatchObject({
      kind: "not_found",
      message: `Artifact with fingerprint ${fingerprint} does not exist in trail "run" of flow "ci" belonging to organization "${org.name}"`,
    });
  });
});

describe("by trail", () => {
  it("lists every report of the name, oldest first, and no other", async () => {
    const org = await app.org();
    const ids = [await attest(org), await attest(org, { is_compliant: false }), await attest(org)];
    await attest(org, { name: "other" });
    await attest(org, {}, { flow: "ci", trail: "another" });
    await attest(org, {}, { flow: "elsewhere", trail: "run" });
    const { json } = await org.reader.get(`/attestations/${org.name}/ci/trail/run/unit`);
    expect(json.map((one: { attestation_id: string }) => one.attestation_id)).toEqual(
      ids.map((id) => id.slice(0, 32)),
    );
  });

  it("is empty for a name nothing was reported under", async () => {
    const org = await app.org();
    await attest(org);
    const answer = await org.reader.get(`/attestations/${org.name}/ci/trail/run/unknown`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual([]);
  });

  it("leaves out what is bound to an artifact", async () => {
    const org = await app.org();
    await report(org, {});
    await attest(org, { artifact_fingerprint: fingerprint });
    expect((await org.reader.get(`/attestations/${org.name}/ci/trail/run/unit`)).json).toEqual([]);
  });

  it.each([
    ["ci", "no-such-trail"],
    ["no-such-flow", "run"],
  ])("of flow %s and trail %s is not found", async (flow, trail) => {
    const org = await app.org();
    await attest(org);
    const answer = await org.reader.get(`/attestations/${org.name}/${flow}/trail/${trail}/unit`);
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({
      message: `Trail with name '${trail}' does not exist for Organization '${org.name}' and Flow '${flow}'`,
    });
  });
});

describe("by artifact", () => {
  it("lists reports on all trails of the flow, oldest first, by any beginning of the fingerprint", async () => {
    const org = await app.org();
    await report(org, {});
    await report(org, { trail_name: "again", template_reference_name: "service" });
    const ids = [
      await attest(org, { artifact_fingerprint: fingerprint }),
      await attest(org, { artifact_fingerprint: fingerprint }, { flow: "ci", trail: "again" }),
    ];
    await attest(org);
    for (const given of [fingerprint, fingerprint.slice(0, 5), fingerprint.slice(0, 63)]) {
      const { json } = await org.reader.get(`/attestations/${org.name}/ci/artifact/${given}/unit`);
      expect(json).toMatchObject([
        {
          attestation_id: ids[0]!.slice(0, 32),
          artifact_fingerprint: fingerprint,
          target_artifacts: ["backend"],
          trail_name: "run",
        },
        { attestation_id: ids[1]!.slice(0, 32), target_artifacts: ["service"], trail_name: "again" },
      ]);
      expect(json[0]._links.self.href).toBe(
        `http://waybill.test/api/v2/attestations/${org.name}/ci/artifact/${given}/unit`,
      );
    }
  });

  it("includes what was made for it before it existed: by name and commit, whichever came first", async () => {
    const org = await app.org();
    const sha1 = commitSha();
    const commit = { sha1, message: null, author: null, branch: null, timestamp: null, url: null };
    const pending = { target_artifacts: ["backend"], git_commit_info: commit };
    const before = await attest(org, pending);
    const trailPath = `/attestations/${org.name}/ci/trail/run/unit`;
    expect((await org.reader.get(trailPath)).json).toHaveLength(1);
    const [first, rebuilt] = ["1".repeat(64), "2".repeat(64)];
    await report(org, { fingerprint: first, git_commit: sha1 });
    const after = await attest(org, pending);
    await report(org, { fingerprint: rebuilt, git_commit: sha1 });
    for (const one of [first, rebuilt]) {
      const { json } = await org.reader.get(`/attestations/${org.name}/ci/artifact/${one}/unit`);
      expect(json.map((found: { attestation_id: string }) => found.attestation_id)).toEqual(
        [before, after].map((id) => id.slice(0, 32)),
      );
    }
    expect((await org.reader.get(trailPath)).json).toEqual([]);
  });

  it("is empty for a name nothing was reported under", async () => {
    const org = await app.org();
    await report(org, {});
    const answer = await org.reader.get(`/attestations/${org.name}/ci/artifact/${fingerprint}/unknown`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual([]);
  });

  it.each([
    ["ci", "f".repeat(64)],
    ["no-such-flow", fingerprint],
  ])("that flow %s does not have (%s) is not found", async (flow, unknown) => {
    const org = await app.org();
    await report(org, {});
    const answer = await org.reader.get(`/attestations/${org.name}/${flow}/artifact/${unknown}/unit`);
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({
      message: `Artifact with fingerprint '${unknown}' does not exist in flow '${flow}' belonging to organization '${org.name}'`,
    });
  });

  it.each(["abcd", "ABCDE", "xyzxyz", "a".repeat(65)])(
    "refuses what is no fingerprint: %s",
    async (given) => {
      const org = await app.org();
      const answer = await org.reader.get(`/attestations/${org.name}/ci/artifact/${given}/unit`);
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual({
        "path.fingerprint": `String should match pattern '^[a-f0-9]{5,64}$' [input: ${given}]`,
      });
    },
  );
});

describe("a renamed flow", () => {
  it("is known by its former name too, until another flow takes that", async () => {
    const org = await app.org();
    await attest(org);
    await report(org, {});
    await attest(org, { artifact_fingerprint: fingerprint });
    const rename = await org.admin.put(`/flows/${org.name}/ci/rename`, { new_name: "cd" });
    expect(rename.status).toBe(200);
    const onTrail = (flow: string) => org.reader.get(`/attestations/${org.name}/${flow}/trail/run/unit`);
    const onArtifact = (flow: string) =>
      org.reader.get(`/attestations/${org.name}/${flow}/artifact/${fingerprint}/unit`);
    for (const read of [onTrail, onArtifact]) {
      const { status, json } = await read("ci");
      expect([status, json]).toEqual([200, [expect.objectContaining({ flow_name: "cd" })]]);
      expect(json).toEqual((await read("cd")).json);
    }
    const [{ attestation_id }] = (await onTrail("cd")).json as [{ attestation_id: string }];
    const tar = await org.reader.get(
      `/attestations/${org.name}/ci/trail/run/attestation/${attestation_id}/audit_package`,
    );
    expect(tar.status).toBe(200);
    await attest(org, {}, { flow: "other", trail: "run" });
    expect((await org.admin.put(`/flows/${org.name}/other/rename`, { new_name: "ci" })).status).toBe(200);
    expect((await onTrail("ci")).json).toMatchObject([{ flow_name: "ci" }]);
    expect((await onArtifact("ci")).status).toBe(404);
  });
});

describe("who may read", () => {
  const paths = [`ci/trail/run/unit`, `ci/artifact/${fingerprint}/unit`];

  it.each(paths)("%s: every role, and anybody in a public organization", async (path) => {
    const [closed, open] = [await app.org(), await app.org({ public: true })];
    for (const org of [closed, open]) await report(org, {});
    for (const client of [closed.admin, closed.member, closed.snapshotter, closed.reader])
      expect((await client.get(`/attestations/${closed.name}/${path}`)).status).toBe(200);
    expect((await app.anonymous.get(`/attestations/${open.name}/${path}`)).status).toBe(200);
    expect((await app.anonymous.get(`/attestations/${closed.name}/${path}`)).status).toBe(401);
    const stranger = await app.user();
    expect((await stranger.client.get(`/attestations/${closed.name}/${path}`)).status).toBe(403);
  });
});
