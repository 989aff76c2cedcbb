import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { integer } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { listArtifacts } from "../../src/modules/process/artifacts/read-store.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { artifactTemplate as template, one, report, vouch } from "../support/artifact-reads.ts";
import { commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { putFlow } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const commit = commitOf("one");

describe("GET /artifacts/{org}", () => {
  const names = (answer: { json: { filename: string }[] }) => answer.json.map((item) => item.filename);

  it("is an empty array for an organization without artifacts", async () => {
    const org = await app.org();
    const answer = await org.reader.get(`/artifacts/${org.name}`);
    expect([answer.status, answer.json]).toEqual([200, []]);
  });

  it("reads a few rows for each report, also of an artifact that is reported again and again", async () => {
    const org = await app.org();
    for (let index = 0; index < 60; index += 1)
      await report(org, { fingerprint: fingerprintOf("again"), filename: "again" });
    const counted = query({ read: integer })`
      select (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::integer as read
      from pg_stat_xact_user_tables where relname = 'artifacts'`;
    const read = await transaction(app.deps.db, async (tx) => {
      const before = await tx.one(counted);
      const all = { flow_id: undefined, repo_ids: undefined };
      expect((await listArtifacts(tx, org.id, all, { limit: 15, offset: 0 })).rows).toHaveLength(1);
      return (await tx.one(counted)).read - before.read;
    });
    expect(read).toBeLessThan(60 * 5);
  });

  it("lists artifacts once in each flow, newest first, in pages of 15 unless told otherwise", async () => {
    const org = await app.org();
    for (let index = 0; index < 17; index += 1)
      await report(org, { fingerprint: fingerprintOf(`${index}`), filename: `${index}` });
    await report(org, { fingerprint: fingerprintOf("3"), filename: "3 again" });
    await report(org, { fingerprint: fingerprintOf("3"), filename: "3 elsewhere" }, "other");
    const get = async (query = "") => names(await org.reader.get(`/artifacts/${org.name}${query}`));
    const rest = Array.from({ length: 17 }, (_, index) => `${16 - index}`).filter((name) => name !== "3");
    const all = ["3 elsewhere", "3 again", ...rest];
    expect(await get()).toEqual(all.slice(0, 15));
    expect(await get("?page=2")).toEqual(all.slice(15));
    expect(await get("?page=3")).toEqual([]);
    expect(await get("?per_page=5&page=2")).toEqual(all.slice(5, 10));
    expect(await get("?per_page=500")).toEqual(all);
    expect(await get("?flow_name=other")).toEqual(["3 elsewhere"]);
    expect(await get("?repo_name=&per_page=2")).toEqual(all.slice(0, 2));
    for (const [query, location] of [
      ["per_page=0", "query.per_page"],
      ["per_page=501", "query.per_page"],
      ["page=x", "query.page"],
      ["flow_name=%00", "query.flow_name"],
    ] as const) {
      const answer = await org.reader.get(`/artifacts/${org.name}?${query}`);
      expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, [location]]);
    }
  });

  it("has the items of the artifact itself, and a commit that clients can cut short", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, template);
    await report(org, {
      fingerprint: fingerprintOf("a"),
      git_commit: commit,
      repo_info: repoInfo("acme/web"),
    });
    await vouch(org, {
      attestation_name: "foo",
      artifact_fingerprint: fingerprintOf("a"),
      is_compliant: false,
    });
    await report(org, { fingerprint: fingerprintOf("b"), trail_name: "later" });
    const { json } = await org.reader.get(`/artifacts/${org.name}`);
    expect(json[0]).toMatchObject({ git_commit: "0".repeat(40), state: "INCOMPLETE" });
    const {
      template: _,
      state_info,
      running,
      exited,
      history,
      commit_lead_times,
      build_lead_times,
      ...item
    } = (await one(org, "a")).json;
    expect(json[1]).toEqual(item);
    expect([item.state, item.evidence.foo.is_compliant]).toEqual(["NON-COMPLIANT", false]);
    expect([state_info, running, exited, history.length, commit_lead_times, build_lead_times]).toEqual([
      "Not compliant: cli.foo. Missing: ticket, cli.bar",
      [],
      [],
      2,
      {},
      {},
    ]);
  });

  it("filters by repo, of whatever provider, and by flow rather than by repo", async () => {
    const org = await app.org();
    await report(org, { filename: "a", fingerprint: fingerprintOf("a"), repo_info: repoInfo("acme/web") });
    await report(org, { filename: "a later", fingerprint: fingerprintOf("a") });
    const twin = repoInfo("acme/web", { provider: "github" });
    await report(org, { filename: "b", repo_info: twin });
    await report(org, { filename: "c", repo_info: repoInfo("acme/api") });
    await report(org, { filename: "d" }, "other");
    const get = (query: string) => org.reader.get(`/artifacts/${org.name}?${query}`);
    expect(names(await get("repo_name=acme/web"))).toEqual(["b", "a"]);
    expect(names(await get("repo_name=acme/api&flow_name=other"))).toEqual(["d"]);
    const repo = await get("repo_name=acme/nope");
    expect([repo.status, repo.json]).toEqual([404, { message: "Repo 'acme/nope' not found" }]);
    const flow = await get("flow_name=nope&repo_name=acme/web");
    expect([flow.status, flow.json]).toEqual([
      404,
      { message: `Flow named 'nope' does not exist for organization '${org.name}'` },
    ]);
  });

  it("leaves out archived flows unless their archived name is asked for", async () => {
    const org = await app.org();
    await report(org, { filename: "kept" });
    await report(org, { filename: "gone" }, "old");
    expect((await org.admin.put(`/flows/${org.name}/old/archive`)).status).toBe(200);
    const { rows } = await app.deps.db.pool.query(
      "select name from flows where org_id = $1 and archived_at is not null",
      [org.id],
    );
    expect(names(await org.reader.get(`/artifacts/${org.name}`))).toEqual(["kept"]);
    expect(names(await org.reader.get(`/artifacts/${org.name}?flow_name=${rows[0].name}`))).toEqual(["gone"]);
    expect((await org.reader.get(`/artifacts/${org.name}?flow_name=old`)).status).toBe(404);
  });

  it("tells nothing of other organizations", async () => {
    const org = await app.org();
    const other = await app.org();
    await report(other, { git_commit: commit, repo_info: repoInfo("acme/web") }, "theirs");
    expect((await org.reader.get(`/artifacts/${org.name}`)).json).toEqual([]);
    expect((await org.reader.get(`/artifacts/${org.name}?repo_name=acme/web`)).status).toBe(404);
    expect((await org.reader.get(`/artifacts/${other.name}`)).status).toBe(403);
  });
});
