import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import { allowListed } from "../../src/modules/runtime/rules/allowlists/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const fingerprint = "ab".repeat(32);
const entry = { artifact_name: "redis:7", artifact_fingerprint: fingerprint, description: "we trust it" };

async function withEnvironment(): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod");
  return org;
}

function allow(org: TestOrg, body: unknown = entry, environment = "prod"): Promise<Answer> {
  return org.member.put(`/allowlists/${org.name}/${environment}`, body);
}

async function listed(org: TestOrg): Promise<Answer["json"]> {
  const { status, json } = await org.reader.get(`/allowlists/${org.name}`);
  expect(status).toBe(200);
  return json;
}

async function allowedIn(org: TestOrg, ...names: string[]): Promise<string[][]> {
  const { rows } = await app.deps.db.pool.query<{ id: string; name: string }>(
    "select id, name from environments where org_id = $1",
    [org.id],
  );
  const ids = names.map((name) => rows.find((row) => row.name === name)!.id);
  const wanted = new Map(
    ids.map((id) => [id, ["", fingerprint, "cd".repeat(32), "ef".repeat(32), fingerprint]]),
  );
  const allowed = await transaction(app.deps.db, (tx) => allowListed(tx, org.id, wanted));
  return ids.map((id) => [...allowed.get(id)!].toSorted());
}

describe("PUT /allowlists/{org}/{env_name}", () => {
  it("puts an artifact on the list and echoes it", async () => {
    const org = await withEnvironment();
    const { status, json } = await allow(org);
    expect([status, json]).toEqual([201, entry]);
    const [row] = await listed(org);
    expect(row).toEqual({
      artifact_name: "redis:7",
      fingerprint,
      environment_name: "prod",
      timestamp: expect.closeTo(app.clock.now(), 0),
      user_name: expect.stringMatching(/^user-/),
      description: "we trust it",
    });
    expect((await auditedResources(org, app)).at(-1)).toBe(
      `allow_artifact_for_env allowlist prod/${fingerprint}`,
    );
    expect(await allowedIn(org, "prod")).toEqual([[fingerprint]]);
  });

  it("changes and records nothing when repeated, name and description when they differ", async () => {
    const org = await withEnvironment();
    await allow(org);
    const before = await listed(org);
    app.clock.advance(5);
    expect((await allow(org)).status).toBe(201);
    expect(await listed(org)).toEqual(before);
    expect(await auditedResources(org, app)).toHaveLength(2);
    await allow(org, { ...entry, description: "" });
    expect(await listed(org)).toEqual([{ ...before[0], description: "" }]);
    expect(await auditedResources(org, app)).toHaveLength(3);
  });

  it("has one entry when many put it there at once", async () => {
    const org = await withEnvironment();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => allow(org)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(await listed(org)).toHaveLength(1);
  });

  it("counts in that environment only", async () => {
    const [org, other] = [await withEnvironment(), await withEnvironment()];
    await createEnvironment(org, "test");
    await allow(org, { ...entry, artifact_fingerprint: "cd".repeat(32) });
    await allow(org);
    await allow(org, entry, "test");
    expect(await allowedIn(org, "prod", "test")).toEqual([[fingerprint, "cd".repeat(32)], [fingerprint]]);
    expect(await allowedIn(other, "prod")).toEqual([[]]);
    expect((await listed(org)).map((row: { environment_name: string }) => row.environment_name)).toEqual([
      "test",
      "prod",
      "prod",
    ]);
  });

  it.each([
    [
      { ...entry, artifact_fingerprint: "AB" },
      "artifact_fingerprint",
      "String should match pattern '^[a-f0-9]{64}$' [input: AB]",
    ],
    [
      { artifact_name: "x", artifact_fingerprint: fingerprint },
      "description",
      "Field required [input: None]",
    ],
    [{ ...entry, artifact_name: 7 }, "artifact_name", "Input should be a valid string [input: 7]"],
    [{ ...entry, more: null }, "more", "Extra inputs are not permitted [input: None]"],
  ])("refuses %j", async (body, place, text) => {
    const org = await withEnvironment();
    const { status, json } = await allow(org, body);
    expect([status, json.errors]).toEqual([400, { [place]: text }]);
  });

  it("answers 404 for unknown and archived environments", async () => {
    const org = await withEnvironment();
    const { status, json } = await allow(org, entry, "x");
    expect([status, json]).toEqual([
      404,
      { message: `Environment named 'x' does not exist for organization '${org.name}'` },
    ]);
    await allow(org);
    await org.admin.put(`/environments/${org.name}/prod/archive`);
    const archived = await allow(org);
    expect([archived.status, archived.json.message]).toEqual([
      404,
      expect.stringContaining("has been archived"),
    ]);
    expect(await listed(org)).toEqual([]);
  });

  it("is for members", async () => {
    const org = await withEnvironment();
    expect((await org.snapshotter.put(`/allowlists/${org.name}/prod`, entry)).status).toBe(403);
    expect((await org.snapshotter.delete(`/allowlists/${org.name}/prod/${fingerprint}`)).status).toBe(403);
  });
});

describe("GET /allowlists/{org}", () => {
  it("tells what is on the lists of chosen environments, as JSON and as CSV", async () => {
    const org = await withEnvironment();
    await createEnvironment(org, "test");
    await allow(org);
    await allow(org, { ...entry, artifact_name: "redis:8" }, "test");
    await org.member.put(`/environments/${org.name}/test/rename`, { new_name: "trial" });
    const names = async (query: string): Promise<string[]> =>
      (await org.reader.get(`/allowlists/${org.name}${query}`)).json.map(
        ({ artifact_name }: Answer["json"]) => artifact_name,
      );
    expect(await names("")).toEqual(["redis:8", "redis:7"]);
    expect(await names("?environment=prod")).toEqual(["redis:7"]);
    expect(await names("?environment=test")).toEqual(["redis:8"]);
    expect(await names("?environment=prod&environment=trial")).toEqual(["redis:8", "redis:7"]);
    expect(await names("?environment=none")).toEqual([]);
    const path = `/allowlists/${org.name}?environment=prod`;
    const { text } = await org.reader.request("GET", path, { headers: { accept: "text/csv" } });
    expect([text.includes("redis:7"), text.includes("redis:8")]).toEqual([true, false]);
  });
});

describe("DELETE /allowlists/{org}/{env_name}/{fingerprint}", () => {
  it("takes it off, and keeps that it was there", async () => {
    const org = await withEnvironment();
    await allow(org);
    const { status, text } = await org.member.delete(`/allowlists/${org.name}/prod/${fingerprint}`);
    expect([status, text]).toEqual([200, '"OK"']);
    expect(await listed(org)).toEqual([]);
    expect(await allowedIn(org, "prod")).toEqual([[]]);
    expect((await auditedResources(org, app)).at(-1)).toBe(
      `disallow_artifact_for_env allowlist prod/${fingerprint}`,
    );
    await allow(org);
    expect(await allowedIn(org, "prod")).toEqual([[fingerprint]]);
    const { rows } = await app.deps.db.pool.query<{ removed: boolean }>(
      "select removed_at is not null as removed from allowlist_entries where org_id = $1 order by id",
      [org.id],
    );
    expect(rows).toEqual([{ removed: true }, { removed: false }]);
  });

  it.each([fingerprint, "x", "%20"])("answers 404 when %s is not on it", async (what) => {
    const org = await withEnvironment();
    const { status, json } = await org.member.delete(`/allowlists/${org.name}/prod/${what}`);
    const shown = decodeURIComponent(what);
    expect([status, json]).toEqual([
      404,
      { message: `Artifact with fingerprint '${shown}' is not allow-listed in environment 'prod'` },
    ]);
  });
});
