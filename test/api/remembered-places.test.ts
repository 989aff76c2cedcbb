import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { render } from "../../src/db/sql.ts";
import { flowAction } from "../support/actions.ts";
import { seenFrom, startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";
import { statementNamesOf } from "../support/statements.ts";

let app: TestApp;
/** Another server on the same database. */
let elsewhere: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  elsewhere = await startTestApp({}, { beside: app });
});
afterAll(async () => {
  await elsewhere.close();
  await app.close();
});

const body = {
  attestation_name: "unit",
  is_compliant: true,
  repo_info: repoInfo("acme/web"),
  git_commit_info: commitInfo(commitOf("one")),
};

function report(org: TestOrg, change: Record<string, unknown> = body): Promise<Answer> {
  return attest(org.member, { org: org.name }, "generic", change);
}

describe("what is remembered of trails and repos", () => {
  /** Makes an organization whose next report on its trail is written without looking. */
  async function remembering(): Promise<TestOrg> {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, sampleTemplate);
    for (let count = 0; count < 3; count += 1) expect((await report(org, body)).status).toBe(201);
    return org;
  }

  it("saves looking for each of many trails", async () => {
    const org = await remembering();
    const on = (trail: string) => attest(org.member, { org: org.name, trail }, "generic", body);
    await on("other");
    for (const trail of ["other", "run", "other"])
      expect(await statementNamesOf(app, () => on(trail))).toEqual(["write-attestations"]);
  });

  it("leaves to be looked for what is not remembered, and no more", async () => {
    const org = await remembering();
    const { db } = app.deps;
    const own = db.one;
    const asked: unknown[][] = [];
    db.one = (query) => {
      if (query.name === "find-reported") asked.push(render(query.sql).values);
      return own(query);
    };
    try {
      const trails = ["run", "second"];
      const answers = await Promise.all(
        trails.map((trail) => attest(org.member, { org: org.name, trail }, "generic", body)),
      );
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    } finally {
      db.one = own;
    }
    expect(asked).toHaveLength(1);
    expect(asked[0]).toEqual(expect.arrayContaining([["web-ci"], ["second"], "[]"]));
  });

  it("is forgotten of a trail that this server writes to in another way", async () => {
    const org = await remembering();
    const artifact = artifactBody({ fingerprint: fingerprintOf("cli"), trail_name: "run" });
    expect((await org.member.post(`/artifacts/${org.name}/web-ci`, artifact)).status).toBe(201);
    expect(await statementNamesOf(app, () => report(org, body))).toEqual([
      "find-reported",
      "write-attestations",
    ]);
    expect(await statementNamesOf(app, () => report(org, body))).toEqual(["write-attestations"]);
  });

  const bound = { ...body, artifact_fingerprint: fingerprintOf("cli") };
  const path = (org: TestOrg) => `${org.name}/web-ci`;

  /** Writing what is remembered, and looking after that. */
  const inVain = ["write-attestations", "find-reported"];

  it.each<{
    what: string;
    change: (there: TestOrg) => Promise<Answer>;
    /** What is reported then; the same as before unless given. */
    next?: Record<string, unknown>;
    /** What is run besides the statements of a transaction; looking and writing again unless given. */
    looks?: string[];
    shown: (org: TestOrg) => Promise<unknown>;
    as: unknown;
  }>([
    {
      what: "an attestation: both count",
      change: (there) => report(there, { ...body, attestation_name: "foo", is_compliant: false }),
      shown: async (org) => (await trailOf(org)).compliance_state,
      as: "NON-COMPLIANT",
    },
    {
      what: "an artifact, which the report is bound to",
      change: (there) =>
        there.member.post(
          `/artifacts/${path(there)}`,
          artifactBody({
            fingerprint: fingerprintOf("cli"),
            trail_name: "run",
            template_reference_name: "cli",
          }),
        ),
      next: bound,
      // It is not even tried: what is remembered of the trail has no such artifact.
      looks: [],
      shown: async (org) =>
        (await trailOf(org)).compliance_status.artifacts_statuses.cli.attestations_statuses.some(
          (one: { attestation_name: string }) => one.attestation_name === "unit",
        ),
      as: true,
    },
    {
      what: "another template of the trail",
      change: (there) =>
        putTrail(there.member, path(there), { name: "run" }, "version: 1\ntrail:\n  attestations: []\n"),
      shown: async (org) => (await trailOf(org)).compliance_state,
      as: "COMPLIANT",
    },
    {
      what: "another name of the flow, whose former one leads to it",
      change: (there) => there.admin.put(`/flows/${path(there)}/rename`, { new_name: "web" }),
      looks: inVain,
      shown: async (org) => (await org.reader.get(`/trails/${org.name}/web/run`)).json.events.length,
      as: 5,
    },
    {
      what: "an action that watches the flow, which is told",
      change: (there) =>
        there.admin.put(
          `/actions/${there.name}/flows`,
          flowAction({ flows: ["web-ci"], triggers: ["ON_ATTESTATION"] }),
        ),
      looks: inVain,
      shown: async (org) => {
        const { rows } = await app.deps.db.pool.query<{ count: string }>(
          "select count(*) from notification_deliveries where org_id = $1",
          [org.id],
        );
        return Number(rows[0]?.count) > 0;
      },
      as: true,
    },
    {
      what: "another address of the repo, which is as reported afterwards",
      change: (there) =>
        report(there, {
          ...body,
          repo_info: { ...repoInfo("acme/web"), url: "https://git.example.com/moved" },
        }),
      looks: inVain,
      shown: async (org) => (await org.reader.get(`/repos/${org.name}`)).json.repos[0].url,
      as: repoInfo("acme/web")["url"],
    },
  ])("is refuted by what another server writes: $what", async ({ change, next = body, looks, shown, as }) => {
    const org = await remembering();
    expect([200, 201]).toContain((await change(seenFrom(elsewhere, org))).status);
    const names = await statementNamesOf(app, async () => expect((await report(org, next)).status).toBe(201));
    const atOnce = names.filter((name) => name === "find-reported" || name === "write-attestations");
    expect(atOnce).toEqual(looks ?? [...inVain, "write-attestations"]);
    expect(names.length > atOnce.length).toBe(looks !== undefined);
    expect(await shown(org)).toEqual(as);
  });

  async function trailOf(org: TestOrg) {
    return (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
  }

  it("is refuted by the flow being archived: its name begins another one", async () => {
    const org = await remembering();
    expect((await seenFrom(elsewhere, org).admin.put(`/flows/${org.name}/web-ci/archive`)).status).toBe(200);
    expect((await report(org, body)).status).toBe(201);
    expect((await trailOf(org)).events.length).toBe(2);
  });

  it("is not refuted by an artifact that nobody has reported", async () => {
    const org = await remembering();
    const unknown = { ...body, artifact_fingerprint: fingerprintOf("nowhere") };
    expect((await report(org, unknown)).status).toBe(404);
    expect(await statementNamesOf(app, () => report(org))).toEqual(["write-attestations"]);
  });

  it("holds beside artifacts that are reported on the same trail at the same time", async () => {
    const org = await remembering();
    const fingerprints = ["a", "b", "c", "d", "e", "f"].map(fingerprintOf);
    const answers = await Promise.all(
      fingerprints.flatMap((fingerprint, at) => [
        org.member.post(
          `/artifacts/${path(org)}`,
          artifactBody({ fingerprint, trail_name: "run", template_reference_name: `part-${at}` }),
        ),
        report(org, { ...body, attestation_name: `check-${at}` }),
        report(org, { ...body, attestation_name: `again-${at}` }),
      ]),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const { compliance_status } = await trailOf(org);
    expect(Object.keys(compliance_status.artifacts_statuses)).toEqual(
      expect.arrayContaining(fingerprints.map((_, at) => `part-${at}`)),
    );
    const names: string[] = compliance_status.attestations_statuses.map(
      (one: { attestation_name: string }) => one.attestation_name,
    );
    expect(names).toEqual(
      expect.arrayContaining(fingerprints.flatMap((_, at) => [`check-${at}`, `again-${at}`])),
    );
  });

  it("is of no use where the database was set back and gave the same version to another report", async () => {
    const org = await remembering();
    const { pool } = app.deps.db;
    // Another moment stands for a report that was lost.
    await pool.query("update trails set last_modified_at = to_timestamp(1700000000) where org_id = $1", [
      org.id,
    ]);
    const { rows } = await pool.query<{ version: string; id: string; flow_id: string }>(
      "select xmin::text as version, id, flow_id from trails where org_id = $1",
      [org.id],
    );
    const moved = { ...rows[0], flow_name: "web-ci", name: "run", last_modified_at: 1e9, repo_ids: [] };
    const move = async (left_at: number | null): Promise<boolean> => {
      const answer = await pool.query<{ moved: boolean }>("select move_trails($1, $2) as moved", [
        org.id,
        JSON.stringify([{ ...moved, left_at }]),
      ]);
      return answer.rows[0]!.moved;
    };
    expect(await move(1e9)).toBe(false);
    expect(await move(null)).toBe(true);
  });
});
