import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { uuid } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { putTrail } from "../support/flows.ts";

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

describe("GET /trails/{org}/{flow}/{trail}", () => {
  it("says which trail is missing, also when the flow is", async () => {
    await putTrail(org.member, `${org.name}/web`, { name: "t" });
    for (const [flow, name] of [
      ["web", "nope"],
      ["nope", "t"],
    ]) {
      const answer = await org.reader.get(`/trails/${org.name}/${flow}/${name}`);
      expect(answer.status).toBe(404);
      expect(answer.json).toEqual({
        message: `Trail with name '${name}' does not exist for Organization '${org.name}' and Flow '${flow}'`,
      });
    }
  });

  it("keeps organizations apart, and public ones open", async () => {
    await putTrail(org.member, `${org.name}/web`, { name: "t" });
    const open = await app.org({ public: true });
    await putTrail(open.member, `${open.name}/web`, { name: "t" });
    expect((await app.anonymous.get(`/trails/${open.name}/web/t`)).status).toBe(200);
    expect((await open.reader.get(`/trails/${org.name}/web/t`)).status).toBe(403);
    expect((await app.anonymous.get(`/trails/${org.name}/web/t`)).status).toBe(401);
  });

  it("shows events that do not repeat the commit", async () => {
    await putTrail(org.member, `${org.name}/web`, { name: "t" });
    const row = await app.deps.db.one(query({ id: uuid })`select id from trails where org_id = ${org.id}`);
    await app.deps.db.pool.query(
      "insert into trail_events (org_id, trail_id, id, occurred_at, type, data) values ($1, $2, $3, now(), 'trail_reported', $4)",
      [org.id, row.id, app.deps.ids.next(), JSON.stringify({ trail_data_json: { git_commit_info: commit } })],
    );
    const { json } = await org.reader.get(`/trails/${org.name}/web/t`);
    expect(json.events.at(-1)).toMatchObject({
      git_commit_info: { ...commit, verified: null, author_username: null },
      repo_info: null,
    });
  });
});
