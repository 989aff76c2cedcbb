import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

import { type CsvForm, csvType } from "../../src/contract/csv.ts";
import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { csvPieces } from "../../src/http/csv.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { collect } from "../support/collect.ts";
import { repoId } from "../support/deployments.ts";
import { createEnvironment } from "../support/environments.ts";
import { inputJsonSchema } from "../support/json-schema.ts";
import { fillPath } from "../support/operations.ts";
import { reportServer } from "../support/snapshots.ts";

const all = Object.entries(endpoints as Record<string, Endpoint>);

function formOf({ responses }: Endpoint): CsvForm | undefined {
  return responses[200]?.csv;
}

const asCsv = all.flatMap(([id, endpoint]) => {
  const form = formOf(endpoint);
  return form === undefined ? [] : [[id, endpoint, form] as const];
});

let app: TestApp;
let org: TestOrg;
const paths = new Map<string, string>();

/** The path of an endpoint, with what there is of each kind. */
function pathOf(id: string, { path }: Endpoint): string {
  return paths.get(id) ?? fillPath(path, org.name);
}

/** A small world in which each list has something: whatever has a name is called x1. */
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  for (const name of ["x1", "x2"]) await createEnvironment(org, name, { type: "server" });
  for (const name of ["web", "=api", 'say "hi"']) {
    const body = artifactBody({
      fingerprint: fingerprintOf(name),
      filename: name,
      trail_name: `t${name.length}`,
      git_commit: "0".repeat(40),
      repo_info: repoInfo("shop"),
    });
    await org.member.post(`/artifacts/${org.name}/x1`, body);
    const place = { org: org.name, flow: "x1", trail: `t${name.length}` };
    const attestation = { attestation_name: "test", is_compliant: name === "web" };
    await attest(org.member, place, "generic", attestation);
  }
  for (const environment of ["x1", "x2"]) {
    await reportServer(org, environment, ["web", "=api"]);
    app.clock.advance(60);
    await reportServer(org, environment, ['say "hi"', "web", "unknown"]);
  }
  const entry = { artifact_name: "=api", artifact_fingerprint: fingerprintOf("=api"), description: "a,\nb" };
  await org.member.put(`/allowlists/${org.name}/x1`, entry);
  const user = await app.user();
  await org.admin.put(`/members/${org.name}/${user.name}`, { role: "reader" });
  await org.admin.put(`/members/${org.name}/${user.name}`, { role: "member" });
  paths.set("list_snapshot_artifacts", `/snapshots/${org.name}/x1/-1/artifacts`);
  paths.set("list_repo_deployments", `/repos/${org.name}/${await repoId(org, "shop")}/deployments`);
});
afterAll(() => app.close());

/** The items of a list in JSON, whatever is around them. */
function itemsOf(json: unknown): object[] {
  const list = Array.isArray(json)
    ? json
    : Object.values(json as object).find((value) => Array.isArray(value));
  return list as object[];
}

describe("every list that can be had as CSV", () => {
  it.each(asCsv)("%s has the same rows as in JSON", async (id, endpoint, form) => {
    const path = pathOf(id, endpoint);
    // In this order: that an audit log was given out is recorded in it.
    const json = await org.admin.get(path);
    const { status, headers, text } = await org.admin.get(path, { headers: { accept: "text/csv" } });
    expect([status, text.slice(0, 200)]).toEqual([200, expect.stringContaining(form.columns[0]!.path)]);
    expect(headers["content-type"]).toBe(csvType);
    expect(headers["content-disposition"]).toContain(`filename="${org.name}-${form.file}.csv"`);
    expect(json.headers["content-type"]).toBe("application/json; charset=utf-8");
    const items = itemsOf(json.json);
    expect(items.length, "the test has something for it").toBeGreaterThan(0);
    async function* batch(): AsyncGenerator<object[]> {
      yield items;
    }
    expect(text).toBe((await collect(csvPieces(form, batch()))).join(""));
  });

  it.each(asCsv)("%s has all of it, whatever the page", async (id, endpoint) => {
    const path = pathOf(id, endpoint);
    const csv = (query: string) => org.admin.get(path + query, { headers: { accept: "text/csv" } });
    const rowsOf = async (query: string): Promise<string[]> => {
      const lines = (await csv(query)).text.split("\r\n");
      // Each is recorded in the log that it gives out.
      return lines.filter((line) => !line.includes(",export,audit_log,"));
    };
    expect(await rowsOf("?page=2&per_page=1")).toEqual(await rowsOf(""));
  });

  it.each(asCsv)("%s stays JSON for who takes anything", async (id, endpoint) => {
    const path = pathOf(id, endpoint);
    const usual = await org.admin.get(path);
    for (const accept of ["*/*", "application/json", "text/*", "application/json, text/csv"]) {
      const answer = await org.admin.get(path, { headers: { accept } });
      expect([answer.headers["content-type"], answer.text]).toEqual([
        usual.headers["content-type"],
        usual.text,
      ]);
    }
  });

  it.each(asCsv)("%s fails in JSON", async (id, endpoint) => {
    const headers = { accept: "text/csv" };
    const denied = await app.anonymous.get(pathOf(id, endpoint), { headers });
    expect([denied.status, denied.headers["content-type"]]).toEqual([401, "application/json; charset=utf-8"]);
    const invalid = await org.admin.get(`${pathOf(id, endpoint)}?page=0&per_page=-1`, { headers });
    // A list without pages does not look at the number.
    const { query } = endpoint;
    if (query instanceof z.ZodObject && "page" in query.shape) expect(invalid.status).toBe(400);
  });

  it.each(asCsv)("%s has columns that its items have", (_id, endpoint, form) => {
    const schema = JSON.stringify(inputJsonSchema(endpoint.responses[200]!.schema!));
    for (const { path } of form.columns)
      for (const name of path.split(".")) expect(schema).toContain(`"${name}":`);
  });

  it("sends no body for HEAD", async () => {
    const answer = await app.server.inject({
      method: "HEAD",
      url: `/api/v2/audit-log/${org.name}`,
      headers: { accept: "text/csv", authorization: `Bearer ${org.admin.key}` },
    });
    expect([answer.statusCode, answer.headers["content-type"], answer.body]).toEqual([200, csvType, ""]);
  });
});
