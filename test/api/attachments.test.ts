import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const content = '{"results":[]}\r\n';
const digest = sha256(content).toString("hex");

function report(name: string, more: Record<string, unknown> = {}) {
  const data = { attestation_name: name, is_compliant: true, user_data: {}, ...more };
  const parts = {
    attachment_file: { filename: "evidence.json", content },
    data_json: JSON.stringify(data),
  };
  return org.member.request("POST", `/attestations/${org.name}/web-ci/trail/run/generic`, { parts });
}

async function read(name: string) {
  return (await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/${name}`)).json[0];
}

describe("a file that comes with an attestation", () => {
  it("is kept byte for byte and handed out under its name", async () => {
    expect((await report("scan")).status).toBe(201);
    const shown = await read("scan");
    expect(shown).toMatchObject({ evidence_archive_fingerprint: digest, has_audit_package: true });
    expect(shown.evidence_archive_path).toMatch(
      /^[a-f0-9-]{32}\/trail_attestation\/[a-f0-9-]{32}\/evidence\.json$/,
    );
    const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${shown.attestation_id}/evidence`;
    expect(shown._links.evidence.href).toBe(`http://waybill.test/api/v2${path}`);
    const file = await org.reader.get(path);
    expect([file.status, file.text]).toEqual([200, content]);
    expect(file.headers["content-disposition"]).toBe('attachment; filename="evidence.json"');
    expect((await (await app.org()).reader.get(path)).status).toBe(403);
  });

  it("is shared by all that come with the same bytes, also at once", async () => {
    const names = ["a", "b", "c"];
    const answers = await Promise.all(names.map((name) => report(name)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const shown = await Promise.all(names.map(read));
    expect(new Set(shown.map((one) => one.evidence_archive_path)).size).toBe(1);
  });

  it("is told from none", async () => {
    const parts = { data_json: JSON.stringify({ attestation_name: "bare", is_compliant: true }) };
    await org.member.request("POST", `/attestations/${org.name}/web-ci/trail/run/generic`, { parts });
    const shown = await read("bare");
    expect(shown).toMatchObject({ evidence_archive_path: null, has_audit_package: false });
    expect(shown._links.evidence).toBeUndefined();
    for (const id of [shown.attestation_id, "nothing"]) {
      const path = `/attestations/${org.name}/web-ci/trail/run/attestation/${id}/evidence`;
      expect((await org.reader.get(path)).status).toBe(404);
    }
  });
});
