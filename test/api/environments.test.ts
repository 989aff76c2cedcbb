import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { environmentTypes } from "../../src/domain/environments.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { auditedResources, createEnvironment, listedNames } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unknown = (name: string, org: TestOrg): object => ({
  message: `Environment named '${name}' does not exist for organization '${org.name}'`,
});
const namePattern = String.raw`String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\.\-_]*$'`;

describe("PUT /environments/{org}", () => {
  it("creates an environment with every field a client reads, in the published order", async () => {
    const org = await app.org();
    const before = app.clock.now();
    await createEnvironment(org, "lab-k8s", { description: "lab cluster" });
    const answer = await org.reader.get(`/environments/${org.name}/lab-k8s`);
    expect(answer.json).toEqual({
      org: org.name,
      name: "lab-k8s",
      type: "K8S",
      description: "lab cluster",
      last_modified_at: expect.any(Number),
      last_reported_at: null,
      last_changed_at: null,
      state: null,
      include_scaling: false,
      tags: {},
      policies: [],
      included_environments: null,
      archived_at: null,
      archived_by: null,
    });
    expect(Object.keys(answer.json)).toEqual([
      "org",
      "name",
      "type",
      "description",
      "last_modified_at",
      "last_reported_at",
      "last_changed_at",
      "state",
      "include_scaling",
      "tags",
      "policies",
      "included_environments",
      "archived_at",
      "archived_by",
    ]);
    expect(answer.json.last_modified_at).toBeGreaterThanOrEqual(before);
    expect(answer.json.last_modified_at).toBeLessThanOrEqual(app.clock.now());
  });

  it.each(environmentTypes)("knows type %s", async (type) => {
    const org = await app.org();
    await createEnvironment(org, "x", { type });
    expect((await org.reader.get(`/environments/${org.name}/x`)).json.type).toBe(type);
  });

  it("accepts the nulls and retired switches that clients send", async () => {
    const org = await app.org();
    await createEnvironment(org, "tf", {
      include_scaling: true,
      require_provenance: true,
      included_environments: null,
      policies: null,
    });
    await createEnvironment(org, "tf", { include_scaling: null, require_provenance: null, policies: [] });
    await createEnvironment(org, "tf", { included_environments: [] });
    expect((await org.reader.get(`/environments/${org.name}/tf`)).json.include_scaling).toBe(false);
  });

  it("replaces a description and keeps it when the new one is empty", async () => {
    const org = await app.org();
    await createEnvironment(org, "a", { description: "one" });
    await createEnvironment(org, "a", { description: "" });
    const kept = await org.reader.get(`/environments/${org.name}/a`);
    expect(kept.json.description).toBe("one");
    app.clock.advance(5);
    await createEnvironment(org, "a", { description: "two" });
    const replaced = await org.reader.get(`/environments/${org.name}/a`);
    expect(replaced.json.description).toBe("two");
    expect(replaced.json.last_modified_at).toBeGreaterThan(kept.json.last_modified_at + 4);
  });

  it("records what changed, and nothing when nothing did", async () => {
    const org = await app.org();
    await createEnvironment(org, "a", { description: "one" });
    await createEnvironment(org, "a", { description: "one" });
    await createEnvironment(org, "a");
    await createEnvironment(org, "a", { description: "two" });
    expect(await auditedResources(org, app)).toEqual([
      "create_env environment a",
      "create_env environment a",
    ]);
  });

  it.each([
    [{ name: "foo bar", type: "K8S", description: "" }, "name", `${namePattern} [input: foo bar]`],
    [{ name: "", type: "K8S", description: "" }, "name", `${namePattern} [input: ]`],
    [{ name: "a#1", type: "K8S", description: "" }, "name", `${namePattern} [input: a#1]`],
    [{ name: "a~1", type: "K8S", description: "" }, "name", `${namePattern} [input: a~1]`],
    [{ name: "a\n", type: "K8S", description: "" }, "name", `${namePattern} [input: a\n]`],
    [
      { name: "a", type: "k8s", description: "" },
      "type",
      "Input should be 'K8S', 'ECS', 'S3', 'lambda', 'server', 'docker', 'azure-apps', 'cloud-run' or 'logical' [input: k8s]",
    ],
    [{ name: "a", type: "K8S" }, "description", "Field required [input: None]"],
    [{ type: "K8S", description: "" }, "name", "Field required [input: None]"],
    [
      { name: "a", type: "K8S", description: null },
      "description",
      "Input should be a valid string [input: None]",
    ],
    [{ name: "a", type: "K8S", description: "", x: 1 }, "x", "Extra inputs are not permitted [input: 1]"],
    [
      { name: "a", type: "logical", description: "", included_environments: "b" },
      "included_environments",
      "Input should be a valid list [input: b]",
    ],
  ])("refuses %j", async (body, location, text) => {
    const org = await app.org();
    const answer = await org.member.put(`/environments/${org.name}`, body);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      message: "Input payload validation failed",
      errors: { [location]: text },
    });
  });

  it("refuses names too long for an index", async () => {
    const org = await app.org();
    const body = { name: "a".repeat(513), type: "K8S", description: "" };
    expect((await org.member.put(`/environments/${org.name}`, body)).status).toBe(400);
    await createEnvironment(org, "a".repeat(512));
    expect((await org.member.put(`/environments/${org.name}/${"a".repeat(512)}/archive`)).status).toBe(200);
  });

  it("refuses another type for a live environment and names both", async () => {
    const org = await app.org();
    await createEnvironment(org, "a", { type: "ECS" });
    const answer = await org.member.put(`/environments/${org.name}`, {
      name: "a",
      type: "K8S",
      description: "",
    });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain("'ECS'");
    expect(answer.json.message).toContain("'K8S'");
  });

  it("knows no policies", async () => {
    const org = await app.org();
    const body = { name: "a", type: "K8S", description: "", policies: ["p"] };
    const answer = await org.member.put(`/environments/${org.name}`, body);
    expect([answer.status, answer.json]).toEqual([
      404,
      { message: `Policy 'p' does not exist in organization '${org.name}'` },
    ]);
    expect((await org.reader.get(`/environments/${org.name}/a`)).status).toBe(404);
  });

  it("makes one environment of fifty requests at once", async () => {
    const org = await app.org();
    const body = { name: "same", type: "docker", description: "d" };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => org.snapshotter.put(`/environments/${org.name}`, body)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
    const list = await org.reader.get(`/environments/${org.name}?page=1`);
    expect(list.json.total_count).toBe(1);
    expect(await auditedResources(org, app)).toEqual(["create_env environment same"]);
  });
});

describe("GET /environments/{org}/{env_name}", () => {
  it("is 404 for a name nobody has", async () => {
    const org = await app.org();
    const answer = await org.reader.get(`/environments/${org.name}/no-such`);
    expect([answer.status, answer.json]).toEqual([404, unknown("no-such", org)]);
  });

  it("does not see other organizations' environments", async () => {
    const [mine, theirs] = [await app.org(), await app.org()];
    await createEnvironment(theirs, "secret");
    expect((await mine.reader.get(`/environments/${mine.name}/secret`)).status).toBe(404);
    expect((await mine.reader.get(`/environments/${theirs.name}/secret`)).status).toBe(403);
  });

  it("shows a public organization's to anybody", async () => {
    const org = await app.org({ public: true });
    await createEnvironment(org, "open");
    expect((await app.anonymous.get(`/environments/${org.name}/open`)).status).toBe(200);
    expect((await app.anonymous.get(`/environments/${org.name}`)).json).toHaveLength(1);
    expect((await app.anonymous.put(`/environments/${org.name}/open/archive`)).status).toBe(401);
  });
});

describe("PATCH /environments/{org}/{env_name}", () => {
  it("changes what is given and clears a description with an empty text", async () => {
    const org = await app.org();
    await createEnvironment(org, "a", { description: "one" });
    const path = `/environments/${org.name}/a`;
    expect((await org.member.patch(path, {})).text).toBe('"OK"');
    expect((await org.member.patch(path, { description: null, include_scaling: true })).status).toBe(200);
    const same = await org.reader.get(path);
    expect(same.json.description).toBe("one");
    app.clock.advance(5);
    expect((await org.member.patch(path, { description: "" })).status).toBe(200);
    const cleared = await org.reader.get(path);
    expect(cleared.json.description).toBe("");
    expect(cleared.json.last_modified_at).toBeGreaterThan(same.json.last_modified_at + 4);
    expect(await auditedResources(org, app)).toEqual([
      "create_env environment a",
      "update_env environment a",
    ]);
  });

  it("refuses unknown keys, also name and type", async () => {
    const org = await app.org();
    await createEnvironment(org, "a");
    for (const body of [{ name: "b" }, { type: "ECS" }, { nonsense: true }]) {
      const answer = await org.member.patch(`/environments/${org.name}/a`, body);
      expect(answer.status).toBe(400);
      expect(Object.values(answer.json.errors)).toEqual([
        expect.stringContaining("Extra inputs are not permitted"),
      ]);
    }
    expect((await org.member.patch(`/environments/${org.name}/a`)).status).toBe(400);
  });

  it("is 404 for unknown environments and policies, 400 for unknown spaces", async () => {
    const org = await app.org();
    await createEnvironment(org, "a");
    const none = await org.member.patch(`/environments/${org.name}/zz`, { description: "x" });
    expect([none.status, none.json]).toEqual([404, unknown("zz", org)]);
    const policy = await org.member.patch(`/environments/${org.name}/a`, { policies: ["p"] });
    expect([policy.status, policy.json]).toEqual([
      404,
      { message: `Policy 'p' does not exist in organization '${org.name}'` },
    ]);
    for (const space_id of ["nonsense", "00000000-0000-7000-8000-00000000"]) {
      const space = await org.member.patch(`/environments/${org.name}/a`, { space_id });
      expect([space.status, space.json]).toEqual([
        400,
        {
          message: "Input payload validation failed",
          errors: { space_id: `Space does not exist [input: ${space_id}]` },
        },
      ]);
    }
  });

  it("moves between spaces", async () => {
    const org = await app.org();
    const space = (await org.admin.post(`/spaces/${org.name}`, { name: "S" })).json.id;
    await createEnvironment(org, "a");
    await org.member.patch(`/environments/${org.name}/a`, { space_id: space });
    await org.member.patch(`/environments/${org.name}/a`, { description: "still there" });
    expect(await listedNames(org.reader, org, `?space_id=${space}`)).toEqual(["a"]);
    await org.member.patch(`/environments/${org.name}/a`, { space_id: null });
    expect(await listedNames(org.reader, org, `?space_id=${space}`)).toEqual([]);
  });
});

describe("PUT /environments/{org}/{env_name}/rename", () => {
  const rename = (org: TestOrg, from: string, to: string) =>
    org.member.put(`/environments/${org.name}/${from}/rename`, { new_name: to });

  it("renames; the old name keeps leading there until another takes it", async () => {
    const org = await app.org();
    await createEnvironment(org, "old", { description: "first" });
    expect((await rename(org, "old", "new")).text).toBe('"OK"');
    expect((await org.reader.get(`/environments/${org.name}/new`)).json.name).toBe("new");
    expect((await org.reader.get(`/environments/${org.name}/old`)).json.name).toBe("new");
    expect(await listedNames(org.reader, org)).toEqual(["new"]);

    await createEnvironment(org, "old", { description: "second" });
    expect((await org.reader.get(`/environments/${org.name}/old`)).json.description).toBe("second");
    expect((await rename(org, "old", "gone")).status).toBe(200);
    expect((await org.reader.get(`/environments/${org.name}/old`)).json.description).toBe("second");
  });

  it("loses the old name for good to another that takes it, archived or not", async () => {
    const org = await app.org();
    await createEnvironment(org, "old");
    await rename(org, "old", "new");
    await createEnvironment(org, "old");
    await org.member.put(`/environments/${org.name}/old/archive`);
    const answer = await org.reader.get(`/environments/${org.name}/old`);
    expect([answer.status, answer.json]).toEqual([
      404,
      { message: `Environment named 'old' has been archived for organization '${org.name}'` },
    ]);
    expect((await org.reader.get(`/environments/${org.name}/new`)).status).toBe(200);
  });

  it("leads former names through several renames and back", async () => {
    const org = await app.org();
    await createEnvironment(org, "a");
    for (const [from, to] of [
      ["a", "b"],
      ["b", "c"],
      ["a", "a"],
    ] as const)
      expect((await rename(org, from, to)).status).toBe(200);
    for (const name of ["a", "b", "c"])
      expect((await org.reader.get(`/environments/${org.name}/${name}`)).json.name).toBe("a");
  });

  it("refuses a taken name and a name taken by something archived", async () => {
    const org = await app.org();
    await createEnvironment(org, "a");
    await createEnvironment(org, "b");
    const answer = await rename(org, "a", "b");
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: `Environment named 'b' already exists for organization '${org.name}'` },
    ]);
    await org.member.put(`/environments/${org.name}/b/archive`);
    const [archived] = await listedNames(org.reader, org, "?archived=true");
    expect((await rename(org, "a", archived!)).status).toBe(400);
    expect((await rename(org, "a", "b")).status).toBe(200);
    expect((await org.reader.get(`/environments/${org.name}/b`)).status).toBe(200);
  });

  it("accepts the name it has, and says so to nobody", async () => {
    const org = await app.org();
    await createEnvironment(org, "a");
    expect((await rename(org, "a", "a")).status).toBe(200);
    expect(await auditedResources(org, app)).toEqual(["create_env environment a"]);
  });

  it("checks the new name before the old one", async () => {
    const org = await app.org();
    const answer = await rename(org, "no-such", "new illegal name");
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        message: "Input payload validation failed",
        errors: { new_name: `${namePattern} [input: new illegal name]` },
      },
    ]);
    const missing = await rename(org, "no-such", "legal");
    expect([missing.status, missing.json]).toEqual([404, unknown("no-such", org)]);
  });

  it("lets one of many racing for a name win, and breaks nothing", async () => {
    const org = await app.org();
    const names = Array.from({ length: 10 }, (_, index) => `e${index}`);
    for (const name of names) await createEnvironment(org, name);
    const answers = await Promise.all([
      ...names.map((name) => rename(org, name, "prize")),
      ...names.map((name, index) => rename(org, name, `other${index}`)),
    ]);
    expect(answers.map(({ status }) => status).every((status) => [200, 400].includes(status))).toBe(true);
    const all = await listedNames(org.reader, org);
    expect(all).toHaveLength(10);
    expect(new Set(all).size).toBe(10);
  });
});

describe("roles", () => {
  it("lets snapshotters create and only members change", async () => {
    const org = await app.org();
    await createEnvironment(org, "a");
    const path = `/environments/${org.name}/a`;
    const usual = { message: "You don't have permission to access this resource" };
    const body = { name: "b", type: "K8S", description: "" };
    expect((await org.reader.put(`/environments/${org.name}`, body)).json).toEqual(usual);
    expect((await org.snapshotter.patch(path, {})).json).toEqual(usual);
    expect((await org.snapshotter.put(`${path}/rename`, { new_name: "x" })).json).toEqual(usual);
    expect((await org.snapshotter.put(`${path}/join`, { physical_env_name: "x" })).json).toEqual(usual);
    const archive = await org.snapshotter.put(`${path}/archive`);
    expect([archive.status, archive.json]).toEqual([
      403,
      { message: "User does not have permission to archive environment" },
    ]);
  });
});
