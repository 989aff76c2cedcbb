import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { uuid } from "../../src/db/row.ts";
import { moment, query, sql } from "../../src/db/sql.ts";
import { sha256 } from "../../src/lib/hash.ts";
import type { Answer, Client } from "../support/client.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { pagesOfPdf, textOfPdf } from "../support/pdf.ts";
import { leastLongestTurn } from "../support/turns.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

let org: TestOrg;
beforeEach(async () => {
  org = await app.org();
});

const template = `version: 1
trail:
  attestations:
    - name: ticket
      type: jira
    - name: review
      type: generic
  artifacts:
    - name: web
      attestations:
        - name: sbom
          type: generic
    - name: worker
`;

async function begin(data: Record<string, unknown> = {}, file = template, flow = "web-ci"): Promise<Answer> {
  const parts = {
    data_json: JSON.stringify({ name: "run", ...data }),
    template_file: { filename: "template.yml", content: file },
  };
  const answer = await org.member.request("PUT", `/trails/${org.name}/${flow}`, { parts });
  expect(answer.status).toBe(201);
  return answer;
}

function pathOf(trail = "run", flow = "web-ci"): string {
  return `/trails/${org.name}/${flow}/${trail}/audit_pdf`;
}

interface Document {
  bytes: Buffer;
  headers: Record<string, unknown>;
  /** Without blanks: lines are wrapped anywhere. */
  text: string;
}

async function download(path = pathOf(), client: Client = org.reader): Promise<Document> {
  const answer = await app.server.inject({
    method: "GET",
    url: `/api/v2${path}`,
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(answer.statusCode).toBe(200);
  const bytes = answer.rawPayload;
  expect(bytes.subarray(0, 8).toString()).toBe("%PDF-1.7");
  expect(bytes.subarray(-6).toString()).toBe("%%EOF\n");
  return { bytes, headers: answer.headers, text: blankless(textOfPdf(bytes)) };
}

function blankless(text: string): string {
  return text.replace(/\s+/gu, "");
}

function expectInOrder(text: string, parts: readonly string[]): void {
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(blankless(part), at);
    expect(found, `${part} after ${text.slice(Math.max(0, at - 80), at)}`).toBeGreaterThanOrEqual(at);
    at = found + blankless(part).length;
  }
}

async function attestWithFile(name: string, filename: string, content: string): Promise<void> {
  const parts = {
    data_json: JSON.stringify({ attestation_name: name, is_compliant: false, user_data: {} }),
    attachment_file: { filename, content },
  };
  const path = `/attestations/${org.name}/web-ci/trail/run/generic`;
  expect((await org.member.request("POST", path, { parts })).status).toBe(201);
}

async function memberCalled(display_name: string): Promise<Client> {
  const user = await app.user({ display_name });
  await app.deps.db.run(sql`
    insert into memberships (org_id, user_id, role, created_at)
    values (${org.id}, ${user.id}, 'reader', ${moment(app.clock.now())})`);
  return user.client;
}

/** Has the verdict on the only trail expect many attestations, and nothing else. */
async function expectMany(count: number): Promise<void> {
  const statuses = Array.from({ length: count }, (_, number) => ({
    attestation_name: `check-${number}.`,
    attestation_type: "generic",
    attestation_id: null,
    overridden_attestation_id: null,
    status: "MISSING",
    is_compliant: null,
    unexpected: false,
  }));
  await app.deps.db.run(sql`
    update trail_compliance set status = (jsonb_set(status::jsonb, '{attestations_statuses}', ${JSON.stringify(statuses)}::jsonb))::json
    where org_id = ${org.id}`);
}

const fingerprint = fingerprintOf("web");

describe("the document of a trail", () => {
  it("says what the trail is, who reported what, and how it was judged", async () => {
    const at = new Date(Math.floor(app.clock.now()) * 1000).toISOString().slice(0, 10);
    await begin({
      description: "The weekly release",
      git_commit_info: { ...commitInfo(commitOf("1")), url: "https://git.example.com/c/1" },
      repo_info: repoInfo("acme/web"),
    });
    const artifact = { trail_name: "run", template_reference_name: "web", fingerprint, filename: "web:1.4" };
    await org.member.post(
      `/artifacts/${org.name}/web-ci`,
      artifactBody({ ...artifact, git_commit: commitOf("1") }),
    );
    await attest(org.member, { org: org.name }, "generic", {
      attestation_name: "sbom",
      artifact_fingerprint: fingerprint,
      is_compliant: true,
    });
    await attestWithFile("review", "review.txt", "not approved");
    await attest(org.member, { org: org.name }, "override", {
      attestation_name: "review",
      reason: "Approved by telephone",
      new_compliance_status: true,
      original_attestation_type: "generic",
    });
    await attest(org.member, { org: org.name }, "generic", {
      attestation_name: "extra",
      is_compliant: false,
    });
    const { headers, text } = await download(pathOf(), await memberCalled("Zoë Auditor"));
    expect(headers).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": 'attachment; filename="web-ci-run.pdf"',
      "x-content-type-options": "nosniff",
    });
    const [review, override] = (await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/review`))
      .json;
    const reporter = review.reported_by as string;
    expectInOrder(text, [
      "Trail run",
      `Organization ${org.name}`,
      "Flow web-ci",
      "Trail run",
      "Description The weekly release",
      `Commit ${commitOf("1")}`,
      "Message rework",
      "Author Ann Lee <ann@acme.test>",
      "Branch main",
      "Committed 2026-08-06 07:06:40 UTC",
      "Repo acme/web https://git.example.com/acme/web",
      `Begun ${at}`,
      `by ${reporter}`,
      `Document made ${at}`,
      "asked for by Zoë Auditor",
      "The trail is NON-COMPLIANT",
      "Artifacts COMPLIANT: 1",
      "Artifacts MISSING: 1",
      "Attestations COMPLIANT: 2",
      "Attestations MISSING: 1",
      "Attestations NON-COMPLIANT: 1",
      "Attestation ticket MISSING",
      "Type jira. Expected by the template",
      "Attestation review COMPLIANT",
      "Type generic. Expected by the template",
      `by ${reporter}, id ${override.attestation_id}`,
      "No file attached",
      "Reason of the override: Approved by telephone",
      "Override: takes the place of NON-COMPLIANT, reported",
      `id ${review.attestation_id}`,
      `Overridden report: Attached file: review.txt, 12 bytes, SHA-256 ${sha256("not approved").toString("hex")}`,
      "Attestation extra NON-COMPLIANT",
      "Type generic. Not expected by the template",
      "Artifact web COMPLIANT",
      `Fingerprint (SHA-256) ${fingerprint}`,
      "File web:1.4",
      `Commit ${commitOf("1")}`,
      "Attestation web: sbom COMPLIANT",
      "Artifact worker MISSING",
      "Events",
      "Trail begun",
      `Artifact web reported: web:1.4 ${fingerprint}, by ${reporter}`,
      `Attestation sbom of type generic reported on the artifact web:1.4 ${fingerprint}: COMPLIANT`,
      "Attestation review of type generic reported on the trail: NON-COMPLIANT",
      `with the file review.txt (SHA-256 ${sha256("not approved").toString("hex")})`,
      "Attestation review of type generic reported again on the trail: COMPLIANT",
      "Attestation extra of type generic reported on the trail: NON-COMPLIANT",
      `http://waybill.test/api/v2/trails/${org.name}/web-ci/run/audit_package`,
    ]);
    expect(text).not.toContain("areleftouthere");
  });

  it("shows a trail that nothing was reported on", async () => {
    await begin({}, "version: 1\n");
    const { bytes, text } = await download();
    expectInOrder(text, [
      "Commit None was reported",
      "The trail is COMPLIANT",
      "Nothing is expected, and nothing was reported.",
      "Events",
      "Trail begun",
    ]);
    expect(pagesOfPdf(bytes)).toBe(1);
  });

  it("writes what its fonts lack, and what deceives, as code points", async () => {
    const description =
      "Größe “µ” – 5 €, 中文 \u{1f600} exe\u202egpj soft\u00adhyphen tab\tend\u0007 e\u0301 \\(x) Tj";
    await begin({ description }, "version: 1\n");
    const { text } = await download();
    expect(text).toContain(
      blankless(
        "Größe “µ” – 5 €, [U+4E2D][U+6587] [U+1F600] exe[U+202E]gpj soft[U+00AD]hyphen tab end[U+0007] é \\(x) Tj",
      ),
    );
  });

  it("cuts what is too long to read, and says so", async () => {
    await begin(
      {
        description: `${"long ".repeat(30_000)}end`,
        origin_url: `https://ci.example.com/${"x".repeat(10_000)}`,
      },
      "version: 1\n",
    );
    const { bytes, text } = await download();
    expect(text).toContain("longlong[cut]");
    expect(text).not.toContain("longend");
    expect(pagesOfPdf(bytes)).toBe(1);
  });

  it("takes no harm from names", async () => {
    const name = `a${".".repeat(3)}b~${"c".repeat(240)}`;
    await org.member.request("PUT", `/trails/${org.name}/web-ci`, {
      parts: { data_json: JSON.stringify({ name }) },
    });
    const path = `/attestations/${org.name}/web-ci/trail/${name}/generic`;
    const data_json = JSON.stringify({ attestation_name: "-rf", is_compliant: true, user_data: {} });
    const parts = { data_json, attachment_file: { filename: "<script>%0d%0a).txt", content: "x" } };
    expect((await org.member.request("POST", path, { parts })).status).toBe(201);
    const { headers, text } = await download(pathOf(name));
    const disposition = headers["content-disposition"] as string;
    expect(disposition).toMatch(/^attachment; filename="web-ci-a\.\.\.b~c{150,190}\.pdf"$/);
    expectInOrder(text, ["Attestation -rf COMPLIANT", "Attached file: <script>", ").txt, 1 bytes"]);
  });

  it("shows the latest of many events, and the first of many attestations", async () => {
    await begin({}, "version: 1\n");
    const { id: trail_id } = await app.deps.db.one(
      query({ id: uuid })`select id from trails where org_id = ${org.id}`,
    );
    const rows = Array.from({ length: 30_000 }, (_, number) => ({
      org_id: org.id,
      trail_id,
      id: app.deps.ids.next(),
      number,
    }));
    await app.deps.db.run(sql`
      insert into trail_events (org_id, trail_id, id, occurred_at, type, data)
      select ${org.id}, ${trail_id}, (e ->> 'id')::uuid, now() + (e ->> 'number')::int * interval '1 second',
        'trail_updated', jsonb_build_object('changes', jsonb_build_array('change-' || (e ->> 'number')))
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) e`);
    await expectMany(1500);
    const { bytes, text } = await download();
    expectInOrder(text, [
      "Attestations MISSING: 1500",
      "Attestation check-0.",
      "Attestation check-999.",
      "500 more artifacts and attestations are left out here. All are in the trail's audit package.",
      "The first 29001 of 30001 events are left out here",
      "Trail updated: change-29000",
      "Trail updated: change-29999",
    ]);
    expect(text).not.toContain("change-28999");
    expect(text).not.toContain("check-1000.");
    expect(pagesOfPdf(bytes)).toBeLessThan(80);
    expect(bytes.length).toBeLessThan(500_000);
  });
});

describe("a document of much", () => {
  it("has artifacts in the template's order, whatever their names", async () => {
    await begin(
      {},
      "version: 1\ntrail:\n  artifacts:\n    - name: web\n    - name: '10'\n      attestations:\n        - name: scan\n          type: generic\n    - name: '2'\n",
    );
    const { bytes, text } = await download();
    expectInOrder(text, [
      "Artifacts MISSING: 3",
      "Attestations MISSING: 1",
      "Artifact web MISSING",
      "Artifact 10 MISSING",
      "Attestation 10: scan MISSING",
      "Artifact 2 MISSING",
    ]);
    expect(pagesOfPdf(bytes)).toBe(1);
  });

  it("holds nobody up, also when six ask for one at a time", async () => {
    await begin({}, "version: 1\n");
    await expectMany(50_000);
    const one = () =>
      app.server.inject({
        method: "GET",
        url: `/api/v2${pathOf()}`,
        headers: { authorization: `Bearer ${org.reader.key}` },
      });
    const six = () => Promise.all(Array.from({ length: 6 }, one));
    expect((await one()).statusCode).toBe(200);
    expect(await leastLongestTurn(35, six)).toBeLessThan(35);
  });
});

describe("who may read it", () => {
  it("is who may read the trail", async () => {
    await begin();
    for (const role of ["admin", "member", "snapshotter", "reader"] as const)
      expect((await org[role].get(pathOf())).status, role).toBe(
        (await org[role].get(pathOf().slice(0, -10))).status,
      );
    expect((await org.reader.get(pathOf())).status).toBe(200);
    expect((await app.anonymous.get(pathOf())).status).toBe(401);
    expect((await (await app.org()).admin.get(pathOf())).status).toBe(403);
  });

  it("is anybody where the organization is public", async () => {
    org = await app.org({ public: true });
    await begin();
    const answer = await app.server.inject({ method: "GET", url: `/api/v2${pathOf()}` });
    expect(answer.statusCode).toBe(200);
    expect(blankless(textOfPdf(answer.rawPayload))).toContain("askedforbyanonymous");
  });

  it("is nobody where there is no such trail", async () => {
    await begin();
    for (const [trail, flow] of [
      ["other", "web-ci"],
      ["run", "other"],
    ] as const) {
      const answer = await org.reader.get(pathOf(trail, flow));
      expect([answer.status, answer.json.message]).toEqual([
        404,
        `Trail with name '${trail}' does not exist for Organization '${org.name}' and Flow '${flow}'`,
      ]);
    }
    const elsewhere = await org.reader.get("/trails/no-such-org/web-ci/run/audit_pdf");
    expect(elsewhere.status).toBe((await org.reader.get("/trails/no-such-org/web-ci/run")).status);
  });
});
