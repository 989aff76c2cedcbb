import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { wireId } from "../../src/lib/ids.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const commit = {
  sha1: "1".repeat(40),
  message: "rework",
  author: "Ann Lee <ann@acme.test>",
  timestamp: 1_786_000_000,
  branch: "rework",
  url: "https://git.acme.test/web/commit/1111",
};
const eventCommit = {
  ...commit,
  author_username: null,
  parents: null,
  verified: null,
  signature_state: null,
};
const repo = {
  url: "https://git.acme.test/web",
  name: "acme/web",
  id: "42",
  provider: "gitlab",
  namespace_path: ["acme"],
};
const report = {
  name: "pr-7",
  description: "checkout rework",
  user_data: { team: "shop" },
  git_commit_info: commit,
  repo_info: repo,
  external_urls: { ticket: { href: "https://jira.acme.test/browse/WEB-7" } },
  origin_url: "https://ci.acme.test/7",
};

function put(data: Record<string, unknown>, template?: string | Buffer): Promise<Answer> {
  return putTrail(org.member, `${org.name}/web`, data, template);
}

async function trail(name = "pr-7") {
  const answer = await org.reader.get(`/trails/${org.name}/web/${name}`);
  expect(answer.status).toBe(200);
  return answer.json;
}

async function audited(): Promise<string[]> {
  const rows = await app.deps.db.all(query({ resource_type: text, resource: text })`
    select resource_type, resource from audit_log where org_id = ${org.id} order by seq`);
  return rows.map(({ resource_type, resource }) => `${resource_type} ${resource}`);
}

interface Event {
  type: string;
  changes?: string[];
}

function changesOf(events: Event[]): [string, string[] | undefined][] {
  return events.map(({ type, changes }) => [type, changes]);
}

describe("PUT /trails/{org}/{flow}: begin", () => {
  it("begins a trail with everything that can be said of it", async () => {
    await putFlow(org.member, org.name, { name: "web" }, sampleTemplate);
    const answer = await put(report);
    expect([answer.status, answer.json]).toEqual([201, "OK"]);
    const shown = await trail();
    const { rows } = await app.deps.db.pool.query(
      "select t.id, t.flow_id, t.template_id, t.repo_ids[1] as repo_id, t.created_by_name, m.user_id from trails t join memberships m on m.org_id = t.org_id and m.role = 'member' where t.org_id = $1",
      [org.id],
    );
    const [row] = rows;
    const userId = wireId(row.user_id);
    const { events, ...rest } = shown;
    expect(rest).toEqual({
      name: "pr-7",
      description: "checkout rework",
      git_commit_info: commit,
      origin_url: "https://ci.acme.test/7",
      user_data: { team: "shop" },
      repo_ids: [wireId(row.repo_id)],
      last_modified_at: shown.created_at,
      created_at: shown.created_at,
      compliance_status: expect.objectContaining({
        evaluated_at: shown.created_at,
        flow_template_id: wireId(row.template_id),
      }),
      compliance_state: "INCOMPLETE",
      is_compliant: false,
      template: {
        version: 1,
        trail: {
          attestations: [{ name: "bar", type: "junit" }],
          artifacts: [{ name: "cli", attestations: [{ name: "foo", type: "generic" }] }],
        },
        content: sampleTemplate,
      },
      created_by: row.created_by_name,
      flow: { name: "web", tags: {} },
      external_urls: { ticket: { href: "https://jira.acme.test/browse/WEB-7" } },
      html_url: `http://waybill.test/${org.name}/flows/web/trails/pr-7`,
    });
    expect(events).toEqual([
      {
        org_id: wireId(org.id),
        flow_id: wireId(row.flow_id),
        trail_id: wireId(row.id),
        timestamp: shown.created_at,
        type: "trail_reported",
        git_commit_info: eventCommit,
        repo_info: expect.objectContaining({
          inner_id: wireId(row.repo_id),
          org_id: wireId(org.id),
          repo_id: "42",
          name: "acme/web",
          url: "https://git.acme.test/web",
          provider: "gitlab",
          description: null,
          namespace_path: ["acme"],
          additional_info: null,
          created_at: expect.any(Number),
          last_modified_at: expect.any(Number),
          tags: {},
        }),
        setting_user_id: userId,
        trail_data_json: {
          org_id: wireId(org.id),
          flow_id: wireId(row.flow_id),
          name: "pr-7",
          creating_user_id: userId,
          description: "checkout rework",
          git_commit_info: commit,
          template_id: wireId(row.template_id),
          origin_url: "https://ci.acme.test/7",
          user_data: '{"team":"shop"}',
          repo_ids: [wireId(row.repo_id)],
        },
      },
    ]);
    expect(await audited()).toEqual(["flow web", "trail web/pr-7"]);
  });

  it("begins a trail of which nothing is said, in a flow that does not exist", async () => {
    expect((await put({ name: "t" })).status).toBe(201);
    expect(await trail("t")).toMatchObject({
      description: "",
      git_commit_info: null,
      origin_url: null,
      user_data: {},
      repo_ids: [],
      external_urls: null,
      template: { version: 1, trail: { attestations: [], artifacts: [] }, content: "version: 1\n" },
    });
    expect((await org.reader.get(`/flows/${org.name}/web`)).json.template).toBe("version: 1\n");
    expect(await audited()).toEqual(["flow web", "trail web/t"]);
  });

  it("finds a flow by its former name", async () => {
    await put({ name: "t" });
    await org.member.put(`/flows/${org.name}/web/rename`, { new_name: "shop" });
    expect((await put({ name: "t2" })).status).toBe(201);
    const { json } = await org.reader.get(`/trails/${org.name}/web/t2`);
    expect(json.flow.name).toBe("shop");
    expect(json.html_url).toBe(`http://waybill.test/${org.name}/flows/shop/trails/t2`);
    expect((await org.reader.get(`/flows/${org.name}`)).json).toHaveLength(1);
  });

  it.each(["foo?$bar", "", "-a", "a b", "a".repeat(513)])("refuses the name %j", async (name) => {
    const answer = await put({ name });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toBe("Input payload validation failed");
    expect(answer.json.errors.name).toContain(name.slice(0, 100));
    expect(await audited()).toEqual([]);
  });

  it("refuses a flow name that no flow can have", async () => {
    const answer = await putTrail(org.member, `${org.name}/a%20b`, { name: "t" });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual(["path.flow_name"]);
  });

  it.each([
    [
      { external_urls: { x: { href: "h", fingerprint: "7509e5bda0" } } },
      "external_urls.x.fingerprint",
      "7509e5bda0",
    ],
    [{ external_urls: { "a=b": { href: "h" } } }, "external_urls.a=b", "a=b"],
    [{ external_urls: { x: { href: "h", more: 1 } } }, "external_urls.x.more", "1"],
    [{ external_urls: { x: {} } }, "external_urls.x.href", "Field required"],
    [{ git_commit_info: {} }, "git_commit_info.sha1", "Field required"],
    [{ git_commit_info: { sha1: "x", timestamp: 1e300 } }, "git_commit_info.timestamp", "less than"],
    [{ repo_info: { name: "n" } }, "repo_info.url", "Field required"],
    [{ repo_info: { name: "n", url: "u", provider: "cvs" } }, "repo_info.provider", "cvs"],
    [{ repo_info: { name: "n".repeat(600), url: "u" } }, "repo_info.name", "512"],
    [{ user_data: "text" }, "user_data", "text"],
    [{ description: 1 }, "description", "1"],
  ])("refuses %j", async (data, place, text) => {
    const answer = await put({ name: "t", ...data });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toBe("Input payload validation failed");
    expect(Object.keys(answer.json.errors)).toEqual([place]);
    expect(answer.json.errors[place]).toContain(text);
  });

  it("takes what looks odd but is allowed", async () => {
    const odd = {
      external_urls: { "a b": { href: "https://http://www.example.com", fingerprint: "a".repeat(64) } },
      user_data: [1, { a: null }],
      git_commit_info: { sha1: "**REDACTED**", message: null, later_field: 1 },
      repo_info: { name: "n", url: "", extra: true },
      extra: 1,
    };
    expect((await put({ name: "t", ...odd })).status).toBe(201);
    // Clients print the commit of a trail without looking whether it is whole.
    const unknown = { sha1: "**REDACTED**", message: "", author: "", branch: null };
    const shown = await trail("t");
    expect(shown).toMatchObject({
      external_urls: odd.external_urls,
      user_data: odd.user_data,
      git_commit_info: { ...unknown, timestamp: 0 },
    });
    const nothing = { sha1: "**REDACTED**", message: null, author: null, branch: null, timestamp: null };
    expect(shown.events[0].git_commit_info).toMatchObject(nothing);
    const { json } = await org.reader.get(`/trails/${org.name}?flow=web`);
    expect(json.data[0].git_commit_info).toEqual(shown.git_commit_info);
  });

  it.each([
    ["trail: {attestations: [{name: a, type: not-supported}]}", 4],
    ["trail: {attestations: [{name: '', type: junit}]}", 1],
    ["version: 2", 1],
    ["trail: [", 1],
    ["", 1],
  ])("refuses the template %j in one text", async (template, count) => {
    const answer = await put({ name: "t" }, template);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json)).toEqual(["message"]);
    expect(answer.json.message).toMatch(/.* validation errors for Template\n.*/);
    expect(answer.json.message).toContain(`${count} validation errors for Template\n`);
    expect((await org.reader.get(`/flows/${org.name}`)).json).toEqual([]);
  });

  it("is denied to readers, snapshotters and strangers", async () => {
    for (const client of [org.reader, org.snapshotter])
      expect((await putTrail(client, `${org.name}/web`, { name: "t" })).status).toBe(403);
    expect((await putTrail(app.anonymous, `${org.name}/web`, { name: "t" })).status).toBe(401);
  });
});

describe("PUT /trails/{org}/{flow}: update", () => {
  it("changes what is said, keeps the rest, and lists the changes", async () => {
    await put(report);
    expect((await put({ name: "pr-7", description: "new" })).status).toBe(200);
    expect((await put({ name: "pr-7", user_data: {}, origin_url: null })).status).toBe(200);
    const other = { ...commit, sha1: "2".repeat(40) };
    await put({ name: "pr-7", git_commit_info: other, origin_url: "o" }, sampleTemplate);
    await put({ name: "pr-7", external_urls: {} });
    const shown = await trail();
    expect(shown).toMatchObject({
      description: "new",
      user_data: {},
      git_commit_info: other,
      origin_url: "o",
      external_urls: {},
      template: { content: sampleTemplate },
    });
    expect(changesOf(shown.events)).toEqual([
      ["trail_reported", undefined],
      ["trail_updated", ["description"]],
      ["trail_updated", ["user_data"]],
      ["trail_updated", ["git_commit_info", "origin_url", "template"]],
      ["trail_updated", ["external_urls"]],
    ]);
    expect(Object.keys(shown.events[1].trail_data_json).sort()).toEqual([
      "description",
      "git_commit_info",
      "origin_url",
      "template_id",
      "user_data",
    ]);
    expect(shown.events[3]).toMatchObject({
      git_commit_info: { ...eventCommit, sha1: "2".repeat(40) },
      repo_info: null,
      trail_data_json: { git_commit_info: other, user_data: "{}", origin_url: "o" },
    });
    expect(shown.last_modified_at).toBe(shown.events.at(-1).timestamp);
    expect(shown.created_at).toBe(shown.events[0].timestamp);
  });

  it("leaves no trace of a report that changes nothing", async () => {
    await put(report, sampleTemplate);
    const before = await trail();
    for (const again of [report, { name: "pr-7" }, { name: "pr-7", description: null, user_data: null }])
      expect((await put(again, sampleTemplate)).status).toBe(200);
    expect(await trail()).toEqual(before);
    expect(await audited()).toEqual(["flow web", "trail web/pr-7"]);
  });

  it("can be told of a repo only, and of several one after the other", async () => {
    await put({ name: "pr-7" });
    expect((await put({ name: "pr-7", repo_info: repo })).status).toBe(200);
    expect((await put({ name: "pr-7", repo_info: repo })).status).toBe(200);
    await put({ name: "pr-7", repo_info: { ...repo, id: "43", name: "acme/api" } });
    const shown = await trail();
    expect(changesOf(shown.events)).toEqual([
      ["trail_reported", undefined],
      ["trail_updated", ["repo_info"]],
      ["trail_updated", ["repo_info"]],
    ]);
    expect(
      shown.events.map((event: { repo_info: { repo_id: string } | null }) => event.repo_info?.repo_id),
    ).toEqual([undefined, "42", "43"]);
    expect(shown.repo_ids).toEqual([shown.events[1].repo_info.inner_id, shown.events[2].repo_info.inner_id]);
  });

  async function templateIds(): Promise<[string, string]> {
    const { rows } = await app.deps.db.pool.query(
      "select t.template_id as trail, f.template_id as flow from trails t join flows f on f.org_id = t.org_id and f.id = t.flow_id where t.org_id = $1 order by t.id",
      [org.id],
    );
    return [rows[0].trail, rows[0].flow];
  }

  it("keeps the template a trail began with until another comes with the trail", async () => {
    await putFlow(org.member, org.name, { name: "web" }, sampleTemplate);
    await put({ name: "pr-7" });
    const [first, ofFlow] = await templateIds();
    expect(first).toBe(ofFlow);
    await putFlow(org.member, org.name, { name: "web" }, "version: 1");
    expect((await put({ name: "pr-7" })).status).toBe(200);
    expect((await trail()).template.content).toBe(sampleTemplate);
    await put({ name: "pr-8" });
    expect((await trail("pr-8")).template.content).toBe("version: 1");
    await put({ name: "pr-7" }, sampleTemplate);
    expect((await templateIds())[0]).toBe(first);
    await put({ name: "pr-7" }, "trail: {artifacts: [{name: web}]}");
    const [second] = await templateIds();
    expect(second).not.toBe(first);
    const shown = await trail();
    expect(shown.template.trail.artifacts).toEqual([{ name: "web", attestations: [] }]);
    expect(shown.events.at(-1).trail_data_json.template_id).toBe(wireId(second));
  });

  it("gives a trail that begins with a template an id for it", async () => {
    await putFlow(org.member, org.name, { name: "web" }, sampleTemplate);
    await put({ name: "pr-7" }, sampleTemplate);
    const [ofTrail, ofFlow] = await templateIds();
    expect(ofTrail).not.toBe(ofFlow);
  });

  it("refuses a wrong template and changes nothing", async () => {
    await put(report);
    expect((await put({ name: "pr-7", description: "new" }, "version: 9")).status).toBe(400);
    expect((await trail()).description).toBe("checkout rework");
  });

  it("refuses trails of archived flows", async () => {
    await put(report);
    await org.member.put(`/flows/${org.name}/web/archive`);
    const row = await app.deps.db.one(query({ name: text })`select name from flows where org_id = ${org.id}`);
    const answer = await putTrail(org.member, `${org.name}/${row.name}`, report);
    expect([answer.status, answer.json.message]).toEqual([400, `Flow '${row.name}' is archived`]);
    expect((await put(report)).status).toBe(201);
  });
});

describe("fifty simultaneous reports of one trail", () => {
  it("begin it once, and leave one event when they all say the same", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => put(report, sampleTemplate)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    expect((await trail()).events).toHaveLength(1);
    expect(await audited()).toEqual(["flow web", "trail web/pr-7"]);
  });

  it("begin it once, and lose no event when they all say something else", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => put({ name: "pr-7", description: `d${index}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    const shown = await trail();
    const said = shown.events.map(
      (event: { trail_data_json: { description: string } }) => event.trail_data_json.description,
    );
    expect(new Set(said).size).toBe(50);
    expect(said.at(-1)).toBe(shown.description);
    expect(shown.events[0].type).toBe("trail_reported");
    const times: number[] = shown.events.map(({ timestamp }: { timestamp: number }) => timestamp);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});
