import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { jsonb, sql } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, repoInfo } from "../support/artifacts.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function report(org: TestOrg, name: string, more: Record<string, unknown> = {}): Promise<void> {
  const body = artifactBody({ repo_info: repoInfo(name, more) });
  expect((await org.member.post(`/artifacts/${org.name}/ci`, body)).status).toBe(201);
}

async function tag(org: TestOrg, name: string, tags: Record<string, string>): Promise<void> {
  await app.deps.db.run(sql`
    update repos set tags = ${jsonb(tags)} where org_id = ${org.id} and name = ${name}`);
}

async function options(org: TestOrg, query = "") {
  const answer = await org.reader.get(`/repos/${org.name}/filter-options${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  const { providers, vcs_instances, namespace_values } = answer.json;
  return { providers, vcs_instances, namespace_values };
}

describe("GET /repos/{org}/filter-options", () => {
  it("is empty without repos, and knows those of its own organization only", async () => {
    const org = await app.org();
    await report(await app.org(), "a", { namespace_path: ["acme"] });
    expect(await options(org)).toEqual({ providers: [], vcs_instances: [], namespace_values: [] });
  });

  it("lists each value once, by code point", async () => {
    const org = await app.org();
    for (const [index, level] of ["b", "a", "B", "é", "a"].entries())
      await report(org, `r${index}`, {
        provider: index % 2 === 0 ? "gitlab" : "azure_devops_server",
        url: `https://${index % 2 === 0 ? "z" : "Y"}.example.com:8443/x`,
        namespace_path: [level, "below"],
      });
    expect(await options(org)).toEqual({
      providers: ["azure_devops_server", "gitlab"],
      vcs_instances: ["y.example.com:8443", "z.example.com:8443"],
      namespace_values: ["B", "a", "b", "é"],
    });
  });

  it("has the level below the namespace asked for, of whole levels, and nothing below the last", async () => {
    const org = await app.org();
    await report(org, "a", { namespace_path: ["acme", "shop", "web"] });
    await report(org, "b", { namespace_path: ["acme", "shopping"] });
    await report(org, "c", { namespace_path: ["acme"] });
    for (const [namespace, values] of Object.entries({
      "": ["acme"],
      acme: ["shop", "shopping"],
      "/acme/": ["shop", "shopping"],
      "acme/shop": ["web"],
      "acme/shop/web": [],
      acm: [],
    }))
      expect([namespace, (await options(org, `?namespace=${namespace}`)).namespace_values]).toEqual([
        namespace,
        values,
      ]);
  });

  it("ignores a list's own filter and obeys the others; several tags combine with OR", async () => {
    const org = await app.org();
    await report(org, "a", { provider: "github", url: "https://hub.example.com/a", namespace_path: ["one"] });
    await report(org, "b", { provider: "gitlab", url: "https://lab.example.com/b", namespace_path: ["two"] });
    await report(org, "c", { provider: "gitlab", url: "https://hub.example.com/c", namespace_path: ["two"] });
    await tag(org, "a", { team: "shop" });
    await tag(org, "b", { team: "bank" });
    expect(await options(org, "?provider=gitlab&vcs_instance=hub.example.com")).toEqual({
      providers: ["github", "gitlab"],
      vcs_instances: ["hub.example.com", "lab.example.com"],
      namespace_values: ["two"],
    });
    expect(await options(org, "?vcs_instance=HUB.example.com")).toMatchObject({
      namespace_values: ["one", "two"],
    });
    expect(await options(org, "?tag=team:shop&tag=team:bank")).toMatchObject({
      providers: ["github", "gitlab"],
      namespace_values: ["one", "two"],
    });
    expect(await options(org, "?tag=team&provider=gitlab")).toEqual({
      providers: ["github", "gitlab"],
      vcs_instances: ["lab.example.com"],
      namespace_values: ["two"],
    });
  });

  it.each([
    [
      "provider=sourceforge",
      "provider",
      /^Input should be 'github', .* or 'subversion' \[input: sourceforge\]$/,
    ],
    ["tag=a&tag=%00", "tag[1]", /^Text must not contain NUL or unpaired surrogates/],
    ["namespace=%00", "namespace", /^Text must not contain NUL or unpaired surrogates/],
  ])("refuses ?%s", async (query, parameter, reason) => {
    const org = await app.org();
    const answer = await org.reader.get(`/repos/${org.name}/filter-options?${query}`);
    expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, [`query.${parameter}`]]);
    expect(answer.json.errors[`query.${parameter}`]).toMatch(reason);
  });

  it("is read by whoever may read the organization", async () => {
    const org = await app.org();
    const path = `/repos/${org.name}/filter-options`;
    expect((await app.anonymous.get(path)).status).toBe(401);
    expect((await (await app.user()).client.get(path)).status).toBe(403);
    const open = await app.org({ public: true });
    expect((await app.anonymous.get(`/repos/${open.name}/filter-options`)).status).toBe(200);
  });
});

describe("literal segments below /repos/{org}", () => {
  it("win over repos of that name, which their id leads to", async () => {
    const org = await app.org();
    for (const name of ["tags", "filter-options", "x/deployments", "live-artifacts"]) await report(org, name);
    const { repos } = (await org.reader.get(`/repos/${org.name}`)).json;
    expect((await org.reader.get(`/repos/${org.name}/tags`)).json.tag_choices).toEqual([]);
    expect((await org.reader.get(`/repos/${org.name}/filter-options`)).json.providers).toEqual(["gitlab"]);
    expect((await org.reader.get(`/repos/${org.name}/x/deployments`)).status).toBe(404);
    expect((await org.reader.get(`/repos/${org.name}/live-artifacts`)).json.name).toBe("live-artifacts");
    for (const { id, name } of repos)
      expect((await org.reader.get(`/repos/${org.name}/${id}?id=${id}`)).json.name).toBe(name);
  });
});
