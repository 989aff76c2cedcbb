import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe("POST", () => {
  it("works", async () => {
    const org = await app.org();
    const body = {
      fingerprint: "a".repeat(64),
      filename: "f",
      build_url: "",
      commit_url: "",
      trail_name: "t",
      repo_info: {
        name: "acme/web",
        id: "42",
        url: "https://github.com/acme/web",
        provider: "github",
        namespace_path: ["a", "b"],
        additional_info: { a: [1] },
      },
    };
    const answer = await org.member.post(`/artifacts/${org.name}/flow`, body);
    console.log(answer.text, app.logged().slice(-3000));
    expect(answer.status).toBe(201);
    console.log((await org.member.post(`/artifacts/${org.name}/flow`, body)).text);
    for (const t of ["flows", "trails", "trail_events", "repos", "artifacts", "builds", "org_counters"])
      console.log(t, (await app.deps.db.pool.query(`select * from ${t} where org_id=$1`, [org.id])).rows);
  });
});
