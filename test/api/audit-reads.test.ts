import { randomBytes } from "node:crypto";

import { afterAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

const apps: TestApp[] = [];
afterAll(async () => {
  for (const app of apps) await app.close();
});

/** Reads a file, every package and the log. @returns what is recorded of that, by whom. */
async function readAll(environment: Record<string, string>): Promise<unknown[]> {
  const app = await startTestApp(environment);
  apps.push(app);
  const org: TestOrg = await app.org();
  const data = { attestation_name: "scan", is_compliant: true, user_data: {} };
  const sent = await org.member.request("POST", `/attestations/${org.name}/web/trail/t1/generic`, {
    parts: {
      data_json: JSON.stringify(data),
      attachment_file: { filename: "a.bin", content: randomBytes(9) },
    },
  });
  expect(sent.status).toBe(201);
  const [{ attestation_id: id }] = (await org.reader.get(`/attestations/${org.name}/web/trail/t1/scan`)).json;
  const base = `/attestations/${org.name}/web/trail/t1/attestation/${id}`;
  const before = (await org.admin.get(`/audit-log/${org.name}`)).json.total_count as number;
  for (const path of [
    `${base}/evidence`,
    `${base}/audit_package`,
    `/trails/${org.name}/web/t1/audit_package`,
    `/trails/${org.name}/web/t1/audit_pdf`,
  ])
    expect([path, (await org.reader.get(path)).status]).toEqual([path, 200]);
  expect((await org.reader.get(`/trails/${org.name}/web/none/audit_package`)).status).toBe(404);
  const { entries } = (await org.admin.get(`/audit-log/${org.name}?sort_direction=asc&per_page=100`)).json;
  return entries
    .slice(before)
    .map(({ action, resource_type, resource, address }: Record<string, string>) => [
      action,
      resource_type,
      resource?.replace(id as string, "ID"),
      address,
    ]);
}

describe("reads of evidence, and of packages", () => {
  it("are recorded where the operator wants that, unless nothing was there", async () => {
    expect(await readAll({ WAYBILL_AUDIT_READS: "1" })).toEqual([
      ["get_attestation_evidence", "evidence", "web/t1/ID", "127.0.0.1"],
      ["download_attestation_audit_package", "audit_package", "web/t1/ID", "127.0.0.1"],
      ["download_trail_audit_package", "audit_package", "web/t1", "127.0.0.1"],
      ["download_trail_audit_pdf", "audit_package", "web/t1", "127.0.0.1"],
    ]);
  });

  it("are not recorded otherwise", async () => {
    expect(await readAll({})).toEqual([]);
  });
});
