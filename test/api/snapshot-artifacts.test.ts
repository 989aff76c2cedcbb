import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import type { Answer } from "../support/client.ts";
import { run } from "../support/deployments.ts";
import { createEnvironment } from "../support/environments.ts";
import { orgThatRuns } from "../support/running.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

let org: TestOrg;
beforeEach(async () => {
  org = await orgThatRuns(app);
  await run(org, "prod", ["web", "api", "lost"]);
});

describe("GET /snapshots/{org}/{env_name}/{snapshot_expression}/artifacts", () => {
  async function shown(query = "", expression = "-1"): Promise<Answer["json"]> {
    const path = `/snapshots/${org.name}/prod/${encodeURIComponent(expression)}/artifacts${query}`;
    const answer = await org.reader.get(path);
    expect([answer.status, answer.json.message]).toEqual([200, undefined]);
    return answer.json;
  }
  const names = ({ data }: Answer["json"]): string[] =>
    data.map((row: { artifact_name: string }) => row.artifact_name);

  const nothing = {
    "started-compliant": 0,
    "started-non-compliant": 0,
    "started-unknown": 0,
    "became-compliant": 0,
    "became-non-compliant": 0,
    "updated-provenance": 0,
    changed: 0,
    unchanged: 0,
    exited: 0,
  };

  it("has a row for each artifact of the snapshot, those that have exited among them, in its order", async () => {
    const { data, pagination } = await shown();
    const { json: snapshot } = await org.reader.get(`/snapshots/${org.name}/prod/-1`);
    expect(pagination).toEqual({ total: 4, page: 1, per_page: 50, page_count: 1 });
    expect(data.map(({ artifact_name, annotation }: Answer["json"]) => [artifact_name, annotation])).toEqual(
      snapshot.artifacts.map(({ name, annotation }: Answer["json"]) => [name, annotation]),
    );
    expect(data.at(-1)).toMatchObject({
      artifact_name: "stray",
      annotation: { type: "exited", was: 1, now: 0 },
      instance_count: 0,
      snapshot_index: 2,
    });
  });

  it("counts all of the snapshot, whatever is asked for", async () => {
    const counts = {
      running: 3,
      compliant: { true: 2, false: 1, unknown: 0 },
      provenance: { known: 2, none: 1 },
      annotation: { ...nothing, "started-compliant": 1, "started-non-compliant": 1, unchanged: 1, exited: 1 },
    };
    for (const query of ["", "?compliant=false", "?search=nothing", "?page=9"])
      expect((await shown(query)).counts).toEqual(counts);
  });

  it.each([
    ["?search=W", ["web"]],
    [`?search=${fingerprintOf("api").slice(0, 6)}`, ["api"]],
    ["?search=_", []],
    ["?compliant=false", ["lost"]],
    ["?compliant=true&compliant=unknown", ["api", "web"]],
    ["?provenance=none", ["lost"]],
    ["?provenance=known", ["api", "web"]],
    ["?annotation=exited", ["stray"]],
    ["?annotation=exited&annotation=unchanged", ["stray", "web"]],
    ["?annotation=exited&compliant=false", []],
    ["?annotation=started-compliant&annotation=started-non-compliant", ["api", "lost"]],
  ])("finds by %s, as many as it counts", async (query, found) => {
    const answer = await shown(`${query}&sort=name`);
    expect(names(answer)).toEqual(found);
    expect(answer.pagination.total).toBe(found.length);
  });

  it.each(["shown", "name", "started_at", "compliant"])(
    "pages by %s without gaps or doubles",
    async (sort) => {
      for (const direction of ["asc", "desc"]) {
        const query = `?sort=${sort}&sort_direction=${direction}`;
        const all = names(await shown(query));
        const paged = [];
        for (const page of [1, 2, 3, 4])
          paged.push(...names(await shown(`${query}&per_page=1&page=${page}`)));
        expect(paged).toEqual(all);
        expect(all.toSorted()).toEqual(["api", "lost", "stray", "web"]);
      }
    },
  );

  it("shows earlier snapshots as they were", async () => {
    for (const expression of ["1", "#1", "~1"]) {
      const answer = await shown("?sort=name", expression);
      expect(names(answer)).toEqual(["stray", "web"]);
      expect(answer.counts.annotation).toEqual({
        ...nothing,
        "started-compliant": 1,
        "started-non-compliant": 1,
      });
      expect(answer.data[1].snapshot_index).toBe(1);
    }
  });

  it("shows logical environments by their own verdicts", async () => {
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    const { json } = await org.reader.get(`/snapshots/${org.name}/all/-1/artifacts`);
    const { json: snapshot } = await org.reader.get(`/snapshots/${org.name}/all/-1`);
    const { true: compliant, false: failing, null: unknown } = snapshot.artifact_compliance_count;
    expect(json.counts).toMatchObject({
      running: 3,
      compliant: { true: compliant, false: failing, unknown },
    });
  });

  it("has nothing of a snapshot without artifacts", async () => {
    await run(org, "prod", []);
    await run(org, "prod", ["x"]);
    await run(org, "prod", []);
    const { data, counts } = await shown("?compliant=true");
    expect([data, counts.running, counts.annotation.exited]).toEqual([[], 0, 1]);
  });

  it("says what is not there, and what is no expression", async () => {
    const path = (environment: string, expression: string) =>
      org.reader.get(`/snapshots/${org.name}/${environment}/${expression}/artifacts`);
    expect((await path("nowhere", "1")).status).toBe(404);
    expect((await path("prod", "99")).status).toBe(404);
    expect((await path("prod", "nonsense")).status).toBe(400);
  });

  it.each(["?per_page=201", "?annotation=moved", "?compliant=null", "?sort=size"])(
    "refuses %s",
    async (query) =>
      expect((await org.reader.get(`/snapshots/${org.name}/prod/-1/artifacts${query}`)).status).toBe(400),
  );
});
