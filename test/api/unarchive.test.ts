import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { auditedResources, createEnvironment, listedNames } from "../support/environments.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";
import { putPolicy, samplePolicy } from "../support/policies.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const flows = (query = "") => org.reader.get(`/flows/${org.name}${query}`);
const flowNames = async (query = ""): Promise<string[]> => {
  const { json } = await flows(query);
  return (Array.isArray(json) ? json : json.data).map(({ name }: { name: string }) => name);
};
const archiveFlow = (name: string) => org.member.put(`/flows/${org.name}/${name}/archive`);
const unarchiveFlow = (name: string) => org.member.put(`/flows/${org.name}/${name}/unarchive`);

describe("GET /flows/{org}?archived=true", () => {
  it("lists archived flows in place of the others, with what they were called and since when they are archived", async () => {
    await putFlow(org.member, org.name, { name: "a", description: "first" }, sampleTemplate);
    await putFlow(org.member, org.name, { name: "b" });
    const [before] = (await flows()).json;
    await archiveFlow("a");
    expect(await flowNames()).toEqual(["b"]);
    for (const query of [
      "?archived=true",
      "?archived=true&per_page=5",
      "?archived=true&sort=latest_activity&page=1&per_page=1",
    ]) {
      const { json } = await flows(query);
      const [shown, ...others] = Array.isArray(json) ? json : json.data;
      expect(others).toEqual([]);
      expect(shown).toEqual({
        ...before,
        name: `a-archived-at-${Math.floor(shown.archived_at)}`,
        original_name: "a",
        archived_at: expect.any(Number),
      });
      if (!Array.isArray(json)) expect(json.pagination).toMatchObject({ total: 1, page_count: 1 });
    }
    expect(await flowNames("?archived=false")).toEqual(["b"]);
  });

  it("goes together with the other filters, in pages", async () => {
    for (const name of ["a1", "a2", "b1"]) {
      await putFlow(org.member, org.name, { name });
      await archiveFlow(name);
    }
    const originals = async (query: string): Promise<string[]> =>
      (await flows(query)).json.data.map(({ original_name }: { original_name: string }) => original_name);
    expect(await originals("?archived=true&search_by_name=a&per_page=10")).toEqual(["a1", "a2", "b1"]);
    expect(await originals("?archived=true&search_by_name=b1&per_page=10")).toEqual(["b1"]);
    expect(await originals("?archived=true&per_page=2&page=2")).toEqual(["b1"]);
    expect(await originals("?archived=true&per_page=2&sort_direction=desc")).toEqual(["b1", "a2"]);
    expect(await originals("?archived=true&per_page=2&tag=x")).toEqual([]);
    const other = await app.org();
    expect((await other.reader.get(`/flows/${other.name}?archived=true`)).json).toEqual([]);
  });
});

describe("PUT /flows/{org}/{flow}/unarchive", () => {
  it("gives back name, records and place in lists, by the archived name", async () => {
    await putFlow(org.member, org.name, { name: "web", description: "kept" }, sampleTemplate);
    await putFlow(org.member, org.name, { name: "other" });
    await putTrail(org.member, `${org.name}/web`, { name: "first" });
    app.clock.advance(90);
    await putTrail(org.member, `${org.name}/web`, { name: "second" });
    const fingerprint = fingerprintOf("x");
    const build = artifactBody({
      trail_name: "first",
      fingerprint,
      repo_url: "https://git.example.com/shop",
    });
    expect((await org.member.post(`/artifacts/${org.name}/web`, build)).status).toBe(201);
    const before = (await flows("?sort=latest_activity&per_page=9")).json;
    await archiveFlow("web");
    expect((await flows("?per_page=9")).json.pagination.total).toBe(1);
    const [archived] = await flowNames("?archived=true");

    const answer = await unarchiveFlow(archived!);
    expect([answer.status, answer.json]).toEqual([200, "OK"]);
    expect((await flows("?sort=latest_activity&per_page=9")).json).toEqual(before);
    expect(await flowNames("?archived=true")).toEqual([]);
    expect((await org.reader.get(`/trails/${org.name}/web/first`)).status).toBe(200);
    // What was said about it meanwhile still leads there.
    expect((await org.reader.get(`/flows/${org.name}/${archived}`)).json.name).toBe("web");
    expect((await putTrail(org.member, `${org.name}/web`, { name: "third" })).status).toBe(201);
    expect(
      (await flows()).json.find(({ name }: { name: string }) => name === "web").latest_activity_at,
    ).toBeGreaterThan(before.data[0].latest_activity_at);
  });

  it("changes nothing the second time, by any of its names, and is audited once", async () => {
    await putFlow(org.member, org.name, { name: "web" });
    await archiveFlow("web");
    const [archived] = await flowNames("?archived=true");
    const answers = await Promise.all([archived!, archived!, "web"].map(unarchiveFlow));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await unarchiveFlow("web")).status).toBe(200);
    expect((await unarchiveFlow(archived!)).status).toBe(200);
    expect(await flowNames()).toEqual(["web"]);
    expect((await flows("?per_page=1")).json.pagination.total).toBe(1);
    expect(await auditedResources(org, app)).toEqual([
      "create_flow_with_template flow web",
      "archive_flow flow web",
      "unarchive_flow flow web",
    ]);
  });

  it("is found by either name while somebody else takes it out", async () => {
    const names = Array.from({ length: 15 }, (_, index) => `web-${index}`);
    for (const name of names) {
      await putFlow(org.member, org.name, { name });
      await archiveFlow(name);
    }
    const archived = await flowNames("?archived=true");
    const asked = [...archived, ...names, ...names].sort();
    const answers = await Promise.all(asked.map(unarchiveFlow));
    expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));
  });

  it("takes the one archived last by the name it had", async () => {
    for (const description of ["older", "newer"]) {
      await putFlow(org.member, org.name, { name: "web", description });
      await archiveFlow("web");
      app.clock.advance(5);
    }
    expect((await unarchiveFlow("web")).status).toBe(200);
    expect((await org.reader.get(`/flows/${org.name}/web`)).json.description).toBe("newer");
    expect(await flowNames("?archived=true")).toHaveLength(1);
  });

  it("refuses while another flow has the name, and takes it from former names", async () => {
    await putFlow(org.member, org.name, { name: "web" });
    await archiveFlow("web");
    await putFlow(org.member, org.name, { name: "web" });
    const [archived] = await flowNames("?archived=true");
    const answer = await unarchiveFlow(archived!);
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: `Flow named 'web' already exists for organization '${org.name}'` },
    ]);
    await org.member.put(`/flows/${org.name}/web/rename`, { new_name: "shop" });
    // The name leads to the other flow until it is taken.
    expect((await unarchiveFlow(archived!)).status).toBe(200);
    expect((await org.reader.get(`/flows/${org.name}/web`)).json.name).toBe("web");
  });

  it("takes it by the name it had, also where another flow had that before", async () => {
    await putFlow(org.member, org.name, { name: "web", description: "archived" });
    await archiveFlow("web");
    await putFlow(org.member, org.name, { name: "web" });
    await org.member.put(`/flows/${org.name}/web/rename`, { new_name: "shop" });
    expect((await unarchiveFlow("web")).status).toBe(200);
    expect((await org.reader.get(`/flows/${org.name}/web`)).json).toMatchObject({
      name: "web",
      description: "archived",
    });
  });

  it("gives the name to one of two who want it at the same moment", async () => {
    await putFlow(org.member, org.name, { name: "web", description: "old" });
    await archiveFlow("web");
    const [archived] = await flowNames("?archived=true");
    const [back, created] = await Promise.all([
      unarchiveFlow(archived!),
      putFlow(org.member, org.name, { name: "web", description: "new" }),
    ]);
    // Who creates it after it came back updates it, or is asked to try again.
    expect(back.status === 200 ? [200, 409] : [201]).toContain(created.status);
    expect([200, 400]).toContain(back.status);
    expect(await flowNames()).toEqual(["web"]);
  });

  it("can be archived and brought back again and again", async () => {
    await putFlow(org.member, org.name, { name: "web" });
    for (let round = 0; round < 3; round += 1) {
      expect((await archiveFlow("web")).status).toBe(200);
      expect((await org.reader.get(`/flows/${org.name}/web`)).status).toBe(404);
      expect((await unarchiveFlow("web")).status).toBe(200);
    }
    expect((await flows("?per_page=5")).json.pagination.total).toBe(1);
  });

  it("answers an unknown flow with 404 and others' roles with 403", async () => {
    const unknown = await unarchiveFlow("nope");
    expect([unknown.status, unknown.json]).toEqual([
      404,
      { message: `Flow named 'nope' does not exist for organization '${org.name}'` },
    ]);
    const other = await app.org();
    await putFlow(other.member, other.name, { name: "theirs" });
    await other.member.put(`/flows/${other.name}/theirs/archive`);
    expect((await unarchiveFlow("theirs")).status).toBe(404);
    for (const client of [org.reader, org.snapshotter])
      expect((await client.put(`/flows/${org.name}/nope/unarchive`)).status).toBe(403);
  });
});

describe("PUT /environments/{org}/{env}/unarchive", () => {
  const path = (name: string) => `/environments/${org.name}/${name}`;
  const archive = (name: string) => org.member.put(`${path(name)}/archive`);
  const unarchive = (name: string) => org.member.put(`${path(name)}/unarchive`);
  const archivedNames = () => listedNames(org.reader, org, "?archived=true");

  it("gives back name and records, and counts it among the others again", async () => {
    await createEnvironment(org, "prod", { description: "kept", type: "server" });
    await createEnvironment(org, "zone", { type: "server" });
    await archive("prod");
    const [archived] = await archivedNames();
    const answer = await unarchive(archived!);
    expect([answer.status, answer.json]).toEqual([200, "OK"]);
    const { json } = await org.reader.get(path("prod"));
    expect(json).toMatchObject({ name: "prod", description: "kept", archived_at: null, archived_by: null });
    expect(await archivedNames()).toEqual([]);
    const list = await org.reader.get(`/environments/${org.name}?page=1&per_page=5`);
    expect(list.json.environments.map(({ name }: { name: string }) => name)).toEqual(["prod", "zone"]);
    expect(list.json.total_count).toBe(2);
    expect((await org.reader.get(path(archived!))).json.name).toBe("prod");
  });

  it("counts in the overview as it did before", async () => {
    await createEnvironment(org, "prod", { type: "server" });
    await createEnvironment(org, "idle", { type: "server" });
    const report = { artifacts: [{ digests: { web: "a".repeat(64) }, creationTimestamp: 1 }] };
    await org.member.put(`${path("prod")}/report/server`, report);
    const overview = async () => {
      const { environments, running } = (await org.reader.get(`/organizations/${org.name}/overview`)).json;
      return { environments, running };
    };
    const before = await overview();
    expect(before.environments.total).toBe(2);
    await archive("prod");
    expect((await overview()).environments.total).toBe(1);
    await unarchive("prod");
    expect(await overview()).toEqual(before);
  });

  it("judges what runs there by the policies of now", async () => {
    await createEnvironment(org, "prod", { type: "server" });
    await putPolicy(org.admin, org.name, { name: "base" }, "_schema: https://policies.example.com/v1\n");
    const attached = await org.admin.post(`${path("prod")}/policies`, { policy_names: ["base"] });
    expect(attached.status).toBeLessThan(300);
    const report = { artifacts: [{ digests: { web: "a".repeat(64) }, creationTimestamp: 1 }] };
    expect((await org.member.put(`${path("prod")}/report/server`, report)).status).toBeLessThan(300);
    expect((await org.reader.get(path("prod"))).json.state).toBe(true);
    await archive("prod");
    await putPolicy(org.admin, org.name, { name: "base" }, samplePolicy);
    expect((await unarchive("prod")).status).toBe(200);
    expect((await org.reader.get(path("prod"))).json.state).toBe(false);
  });

  it("changes nothing the second time, by any of its names, and is audited once", async () => {
    await createEnvironment(org, "prod");
    await archive("prod");
    const [archived] = await archivedNames();
    const answers = await Promise.all([archived!, "prod", archived!].map(unarchive));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const before = (await org.reader.get(path("prod"))).json;
    expect((await unarchive("prod")).status).toBe(200);
    expect((await org.reader.get(path("prod"))).json).toEqual(before);
    expect(await auditedResources(org, app)).toEqual([
      "create_env environment prod",
      "archive_env environment prod",
      "unarchive_env environment prod",
    ]);
  });

  it("refuses while another environment has the name, and takes it from former names", async () => {
    await createEnvironment(org, "prod", { description: "old" });
    await archive("prod");
    await createEnvironment(org, "prod");
    const [archived] = await archivedNames();
    const answer = await unarchive(archived!);
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: `Environment named 'prod' already exists for organization '${org.name}'` },
    ]);
    await org.member.put(`${path("prod")}/rename`, { new_name: "live" });
    expect((await unarchive(archived!)).status).toBe(200);
    expect((await org.reader.get(path("prod"))).json.description).toBe("old");
  });

  it("stays out of logical environments, which may take it again", async () => {
    await createEnvironment(org, "all", { type: "logical" });
    await createEnvironment(org, "prod", { type: "server" });
    await org.member.put(`${path("all")}/join`, { physical_env_name: "prod" });
    await archive("prod");
    await unarchive("prod");
    const members = async () => (await org.reader.get(path("all"))).json.included_environments;
    expect(await members()).toEqual([]);
    expect((await org.member.put(`${path("all")}/join`, { physical_env_name: "prod" })).status).toBe(200);
    expect(await members()).toEqual(["prod"]);
    // Likewise the other way round.
    await archive("all");
    expect((await unarchive("all")).status).toBe(200);
    expect(await members()).toEqual(["prod"]);
  });

  it("takes reports again", async () => {
    await createEnvironment(org, "prod", { type: "server" });
    const report = { artifacts: [{ digests: { web: "a".repeat(64) }, creationTimestamp: 1 }] };
    await org.member.put(`${path("prod")}/report/server`, report);
    await archive("prod");
    expect((await org.member.put(`${path("prod")}/report/server`, report)).status).toBe(404);
    await unarchive("prod");
    expect((await org.member.put(`${path("prod")}/report/server`, report)).status).toBeLessThan(300);
  });

  it("answers an unknown environment with 404 and others' roles with 403", async () => {
    const unknown = await unarchive("nope");
    expect([unknown.status, unknown.json]).toEqual([
      404,
      { message: `Environment named 'nope' does not exist for organization '${org.name}'` },
    ]);
    for (const client of [org.reader, org.snapshotter]) {
      const answer = await client.put(`${path("nope")}/unarchive`);
      expect([answer.status, answer.json]).toEqual([
        403,
        { message: "User does not have permission to unarchive environment" },
      ]);
    }
  });
});

describe("GET /flows/{org}?include=latest_trails", () => {
  it("adds the newest trails of each flow with their states, newest first, in the statement of the page", async () => {
    await putFlow(org.member, org.name, { name: "web" }, sampleTemplate);
    await putFlow(org.member, org.name, { name: "empty" });
    for (let index = 1; index <= 21; index += 1)
      await putTrail(org.member, `${org.name}/web`, { name: `t${index}` });
    await attest(org.member, { org: org.name, flow: "web", trail: "t20" }, "generic", {
      attestation_name: "bad",
      is_compliant: false,
    });
    const latest = (flow: string) =>
      Array.from({ length: flow === "empty" ? 0 : 20 }, (_, index) => ({
        name: `t${21 - index}`,
        compliance_state: index === 1 ? "NON-COMPLIANT" : "INCOMPLETE",
        html_url: `http://waybill.test/${org.name}/flows/web/trails/t${21 - index}`,
      }));
    for (const query of [
      "?per_page=5",
      "?per_page=5&sort=latest_activity",
      "?per_page=1&page=2",
      "?per_page=5&tag=x",
    ]) {
      const plain = (await flows(query)).json;
      const { json } = await flows(`${query}&include=latest_trails`);
      expect(json.pagination).toEqual(plain.pagination);
      for (const [index, flow] of json.data.entries())
        expect(flow).toEqual({ ...plain.data[index], latest_trails: latest(flow.name) });
    }
    const count = async (query: string) =>
      (await statementsOf(app, () => flows(query))).filter((statement) => !statement.includes("api_keys"))
        .length;
    expect(await count("?per_page=5&include=latest_trails")).toBe(await count("?per_page=5&page=2"));
    await archiveFlow("web");
    const { json } = await flows("?per_page=5&archived=true&include=latest_trails");
    expect(json.data[0].latest_trails).toHaveLength(20);
    expect(json.data[0].latest_trails[0].html_url).toContain(`/flows/${json.data[0].name}/trails/t21`);
  });

  it("needs a page", async () => {
    const answer = await flows("?include=latest_trails");
    expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, ["query.include"]]);
    expect((await flows("?include=all&per_page=2")).status).toBe(400);
  });
});
