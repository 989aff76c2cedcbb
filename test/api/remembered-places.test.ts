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

  it.each<{
    what: string;
    change: (there: TestOrg) => Promise<Answer>;
    /** What is reported then; the same as before unless given. */
    next?: Record<string, unknown>;
    /** What is left to a transaction, after looking. */
    isLeft?: true;
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
      isLeft: true,
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
      isLeft: true,
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
      isLeft: true,
      shown: async (org) => (await org.reader.get(`/repos/${org.name}`)).json.repos[0].url,
      as: repoInfo("acme/web")["url"],
    },
  ])(
    "is refuted by what another server writes: $what",
    async ({ change, next = body, isLeft, shown, as }) => {
      const org = await remembering();
      const client = ({ key }: { key: string | undefined }) => elsewhere.as(key ?? "");
      const there = { ...org, admin: client(org.admin), member: client(org.member) };
      const changed = await change(there);
      expect([200, 201]).toContain(changed.status);
      const names = await statementNamesOf(app, async () =>
        expect((await report(org, next)).status).toBe(201),
      );
      // A report on an artifact that is not remembered is not even tried.
      const tries = next === body ? ["write-attestations"] : [];
      expect(names.slice(0, tries.length + 2)).toEqual([
        ...tries,
        "find-reported",
        ...(isLeft === true ? [names[tries.length + 1]] : ["write-attestations"]),
      ]);
      expect(names.length > tries.length + 2).toBe(isLeft === true);
      expect(await shown(org)).toEqual(as);
    },
  );

  async function trailOf(org: TestOrg) {
    return (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
  }

  it("is refuted by the flow being archived: its name begins another one", async () => {
    const org = await remembering();
    expect((await seenFrom(elsewhere, org).admin.put(`/flows/${org.name}/web-ci/archive`)).status).toBe(200);
    expect((await report(org, body)).status).toBe(201);
    expect((await trailOf(org)).events.length).toBe(2);
  });
});
