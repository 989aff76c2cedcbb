import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { orgWith, repoId, run } from "../support/deployments.ts";
import { attestAll } from "../support/histories.ts";

let app: TestApp;
let org: TestOrg;
const count = 260;

/** More of everything than is read at a time. */
beforeAll(async () => {
  app = await startTestApp();
  org = await orgWith(app, "prod", "test");
  const names = Array.from({ length: count }, (_, index) => `a${index}`);
  for (const name of names) {
    // Some in the same moment.
    if (Number(name.slice(1)) % 3 === 0) app.clock.advance(1);
    const body = artifactBody({
      fingerprint: fingerprintOf(name),
      trail_name: name,
      repo_info: repoInfo("shop"),
    });
    await org.member.post(`/artifacts/${org.name}/ci`, body);
    const place = { org: org.name, flow: "ci", trail: name };
    await attest(org.member, place, "generic", { attestation_name: "test", is_compliant: true });
  }
  await run(org, "prod", names);
  app.clock.advance(60);
  await run(org, "test", names.slice(0, 30));
  await app.deps.db.pool.query(
    `insert into allowlist_entries (org_id, id, environment_id, fingerprint, artifact_name, description, created_at, created_by_name)
    select org_id, gen_random_uuid(), id, encode(sha256(n::text::bytea), 'hex'), 'n' || n, '', now() + n / 3 * interval '1 s', 'x'
    from environments cross join generate_series(1, 1100) n where org_id = $1 and name = 'prod'`,
    [org.id],
  );
});
afterAll(() => app.close());

/** Cells of a column, by its heading. No cell of these has a comma in it. */
async function csvColumn(path: string, heading: string): Promise<string[]> {
  const { status, text } = await org.admin.get(path, { headers: { accept: "text/csv" } });
  expect(status).toBe(200);
  const [head = "", ...lines] = text.trimEnd().split("\r\n");
  const at = head.split(",").indexOf(heading);
  expect(at).toBeGreaterThanOrEqual(0);
  return lines.map((line) => line.split(",")[at]!);
}

/** The same of all pages in JSON. */
async function jsonColumn(path: string, read: (item: Record<string, unknown>) => unknown): Promise<string[]> {
  const all: string[] = [];
  let url = `${path}${path.includes("?") ? "&" : "?"}per_page=50`;
  for (let page = 1; ; page += 1) {
    const { json } = await org.admin.get(url.includes("after=") ? url : `${url}&page=${page}`);
    const list = Array.isArray(json)
      ? json
      : (Object.values(json).find(Array.isArray) as Record<string, unknown>[]);
    all.push(...list.map((item) => String(read(item))));
    if (json._links?.next !== undefined && json.page === undefined) {
      const next = new URL(json._links.next.href);
      url = `${next.pathname}${next.search}`;
    } else if (list.length < 50 || Array.isArray(json)) return all;
  }
}

const trail = (item: Record<string, unknown>): unknown => item["trail_name"] ?? item["name"];

describe("lists of any length as CSV", () => {
  it.each([
    ["trails of the organization", () => `/trails/${org.name}`, "name", trail, count],
    ["trails that are searched", () => `/trails/${org.name}?search=a1`, "name", trail, 111],
    [
      "trails of a flow that are searched",
      () => `/trails/${org.name}/ci?state=COMPLIANT`,
      "name",
      trail,
      count,
    ],
    ["attestations", () => `/attestations/${org.name}?name=test`, "trail_name", trail, count],
    ["attestations of a flow", () => `/attestations/${org.name}/ci`, "trail_name", trail, count],
    ["deployments", () => `/deployments/${org.name}`, "trail_name", trail, count + 30],
    [
      "deployments of a repo",
      () => `/deployments/${org.name}?repo_name=shop&env_name=prod`,
      "trail_name",
      trail,
      count,
    ],
    [
      "entries of the audit log",
      () => `/audit-log/${org.name}`,
      "seq",
      (item: Record<string, unknown>) => item["seq"],
      521,
    ],
  ])("has all %s, in the order of the pages", async (_what, path, heading, read, least) => {
    // In this order: that an audit log was given out is recorded in it.
    const shown = await jsonColumn(path(), read);
    const cells = await csvColumn(path(), heading);
    expect(cells).toEqual(shown);
    expect(cells.length).toBeGreaterThanOrEqual(least);
  });

  it("has all trails of a flow", async () => {
    const { json } = await org.reader.get(`/trails/${org.name}/ci`);
    const names = json.map(({ name }: { name: string }) => name);
    expect(names).toHaveLength(count);
    expect(await csvColumn(`/trails/${org.name}/ci`, "name")).toEqual(names);
  });

  it("has all deployments into an environment, and of a repo by its id", async () => {
    const { json } = await org.reader.get(`/environments/${org.name}/test/deployments?page_size=50`);
    const names = json.deployments.map((each: { trail_name: string }) => each.trail_name);
    expect(names).toHaveLength(30);
    expect(await csvColumn(`/environments/${org.name}/test/deployments`, "trail_name")).toEqual(names);
    const ofRepo = await csvColumn(
      `/repos/${org.name}/${await repoId(org, "shop")}/deployments?env=test`,
      "trail_name",
    );
    expect(ofRepo).toEqual(names);
  });

  it("has all that is allow-listed", async () => {
    const { json } = await org.reader.get(`/allowlists/${org.name}`);
    const names = json.map((each: { artifact_name: string }) => each.artifact_name);
    expect(names).toHaveLength(1100);
    expect(await csvColumn(`/allowlists/${org.name}`, "artifact_name")).toEqual(names);
  });

  it("keeps to the filters, and says what is wrong with them", async () => {
    const accept = { headers: { accept: "text/csv" } };
    expect(await csvColumn(`/attestations/${org.name}?name=nothing`, "trail_name")).toEqual([]);
    expect(await csvColumn(`/attestations/${org.name}?attestation_id=none`, "trail_name")).toEqual([]);
    expect(await csvColumn(`/trails/${org.name}?flow=nothing`, "name")).toEqual([]);
    expect(await csvColumn(`/deployments/${org.name}?repo_name=nothing`, "trail_name")).toEqual([]);
    expect(await csvColumn(`/audit-log/${org.name}?action=nothing`, "seq")).toEqual([]);
    expect((await org.reader.get(`/trails/${org.name}/nothing`, accept)).status).toBe(404);
    expect((await org.reader.get(`/attestations/${org.name}/nothing`, accept)).status).toBe(404);
    expect((await org.reader.get(`/environments/${org.name}/nothing/deployments`, accept)).status).toBe(404);
    expect((await org.reader.get(`/attestations/${org.name}?after=nonsense`, accept)).status).toBe(400);
    expect((await org.reader.get(`/audit-log/${org.name}`, accept)).status).toBe(403);
  });

  it("has the audit log in the other direction, too", async () => {
    const numbers = await csvColumn(`/audit-log/${org.name}?sort_direction=asc`, "seq");
    expect(numbers).toEqual(numbers.map((_number, index) => String(index + 1)));
  });
});

it.each([
  ["attestations of a flow", "/flow"],
  ["attestations that are searched by it", "?flow=flow"],
])("has all %s, whatever becomes of its name meanwhile", async (_what, path) => {
  const own = await app.org();
  const many = 120;
  await attestAll(
    app,
    own,
    Array.from({ length: many }, (_, at) => ({
      trail: "run",
      name: `check-${at}`,
      type: "generic",
      is_compliant: true,
      is_override: false,
      print: null,
      commit: null,
      targets: null,
    })),
  );
  const { db } = app.deps;
  const read = db.sliced;
  let batches = 0;
  const spy = vi.spyOn(db, "sliced").mockImplementation(async (work) => {
    if ((batches += 1) === 2)
      expect((await own.admin.put(`/flows/${own.name}/flow/archive`)).status).toBe(200);
    return read(work);
  });
  const answer = await own.reader.get(`/attestations/${own.name}${path}`, {
    headers: { accept: "text/csv" },
  });
  spy.mockRestore();
  expect([answer.status, batches > 2]).toEqual([200, true]);
  expect(answer.text.trimEnd().split("\r\n")).toHaveLength(many + 1);
});
