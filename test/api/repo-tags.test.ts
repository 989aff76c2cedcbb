import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { jsonb, sql } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, repoInfo } from "../support/artifacts.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function addRepo(org: TestOrg, name: string, tags: Record<string, string>): Promise<void> {
  await org.member.post(`/artifacts/${org.name}/f`, artifactBody({ repo_info: repoInfo(name) }));
  await app.deps.db.run(sql`
    update repos set tags = ${jsonb(tags)} where org_id = ${org.id} and name = ${name}`);
}

describe("GET /repos/{org}/tags", () => {
  it("lists distinct pairs, sorted by key, then by value", async () => {
    const org = await app.org();
    await addRepo(org, "a", { team: "shop", tier: "1" });
    await addRepo(org, "b", { team: "Shop", tier: "1", z: "" });
    await addRepo(org, "c", { team: "shop", area: "é" });
    const answer = await org.reader.get(`/repos/${org.name}/tags`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      tag_choices: [
        { key: "area", value: "é" },
        { key: "team", value: "Shop" },
        { key: "team", value: "shop" },
        { key: "tier", value: "1" },
        { key: "z", value: "" },
      ],
      _links: { self: { href: `http://waybill.test/api/v2/repos/${org.name}/tags` } },
    });
  });

  it("is empty without repos or tags, and shows nothing of another organization", async () => {
    const [org, other] = [await app.org(), await app.org()];
    await addRepo(other, "a", { team: "x" });
    expect((await org.reader.get(`/repos/${org.name}/tags`)).json.tag_choices).toEqual([]);
    await addRepo(org, "a", {});
    expect((await org.reader.get(`/repos/${org.name}/tags`)).json.tag_choices).toEqual([]);
  });

  it("wins over a repo called tags, which its id reaches, and leaves longer names alone", async () => {
    const org = await app.org();
    await addRepo(org, "tags", { team: "x" });
    await addRepo(org, "tags/x", {});
    expect((await org.reader.get(`/repos/${org.name}/tags`)).json).toHaveProperty("tag_choices");
    const [repo] = (await org.reader.get(`/repos/${org.name}?name=tags`)).json.repos;
    expect((await org.reader.get(`/repos/${org.name}/any?id=${repo.id}`)).json.name).toBe("tags");
    expect((await org.reader.get(`/repos/${org.name}/tags/x`)).json.name).toBe("tags/x");
  });

  it("says that an organization does not exist, and denies one that does to strangers", async () => {
    const org = await app.org();
    const stranger = await app.user();
    const unknown = await stranger.client.get("/repos/no-such-org/tags");
    expect([unknown.status, unknown.json]).toEqual([404, { message: "Organization not found" }]);
    const foreign = await stranger.client.get(`/repos/${org.name}/tags`);
    expect([foreign.status, foreign.json]).toEqual([
      403,
      { message: `Access denied to /api/v2/repos/${org.name}/tags` },
    ]);
    expect((await app.anonymous.get(`/repos/${org.name}/tags`)).status).toBe(401);
    expect((await app.anonymous.get("/repos/no-such-org/tags")).status).toBe(401);
    const open = await app.org({ public: true });
    expect((await app.anonymous.get(`/repos/${open.name}/tags`)).status).toBe(200);
    for (const client of [org.admin, org.member, org.snapshotter, org.reader])
      expect((await client.get(`/repos/${org.name}/tags`)).status).toBe(200);
  });
});
