import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { ActionFixtures, flowAction, putEnv } from "../support/actions.ts";
import { auditedResources } from "../support/environments.ts";
import { listenTo } from "../support/listening.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let fixtures: ActionFixtures;
let port: number;
beforeAll(async () => {
  app = await startTestApp();
  fixtures = new ActionFixtures(app);
  port = await listen(app);
});
afterAll(() => app.close());

describe("names", () => {
  it("refuses unknown and archived environments and one named twice", async () => {
    const { org } = await fixtures.org();
    await fixtures.environment(org, "old");
    await fixtures.archive("environments", org, "old");
    const other = await app.org();
    await fixtures.environment(other, "elsewhere");
    const missing = (name: string) =>
      `Environment named '${name}' does not exist for organization '${org.name}'`;
    for (const name of ["nope", "old", "elsewhere", "web", ""]) {
      const answer = await putEnv(org, { environments: ["prod", name] });
      expect([answer.status, answer.json]).toEqual([400, { message: missing(name) }]);
    }
    await fixtures.rename("environments", org, "prod", "production");
    const twice = await putEnv(org, { environments: ["prod", "production"] });
    expect([twice.status, twice.json]).toEqual([
      400,
      { message: "'prod' and 'production' are names of the same environment" },
    ]);
  });

  it("resolves former names and shows present ones, also after a later rename", async () => {
    const { org } = await fixtures.org();
    await fixtures.rename("environments", org, "prod", "production");
    expect((await putEnv(org, { environments: ["stage", "prod"] })).status).toBe(201);
    expect((await org.reader.get(`/actions/${org.name}/1`)).json.environments).toEqual([
      "stage",
      "production",
    ]);
    await fixtures.rename("environments", org, "production", "live");
    expect((await org.reader.get(`/actions/${org.name}/1`)).json.environments).toEqual(["stage", "live"]);
    expect((await putEnv(org, { environments: ["stage", "live"] })).status).toBe(200);
    // Taken by another one, the old name means the other.
    await fixtures.environment(org, "prod");
    expect((await putEnv(org, { environments: ["stage", "prod"] })).status).toBe(201);
    expect((await org.reader.get(`/actions/${org.name}/2`)).json.environments).toEqual(["stage", "prod"]);
  });
});

describe("archiving", () => {
  it("takes the environment out of its actions and deletes those that watched nothing else", async () => {
    const { org } = await fixtures.org();
    await putEnv(org, { name: "only", environments: ["prod"] });
    await putEnv(org, { name: "both", environments: ["prod", "stage"] });
    await putEnv(org, { name: "other", environments: ["stage"] });
    await fixtures.archive("environments", org, "prod");
    const list = (await org.reader.get(`/actions/${org.name}`)).json;
    expect(
      list.map((action: { name: string; environments: string[] }) => [action.name, action.environments]),
    ).toEqual([
      ["other", ["stage"]],
      ["both", ["stage"]],
    ]);
    expect((await org.reader.get(`/actions/${org.name}/1`)).status).toBe(404);
    await fixtures.environment(org, "prod");
    expect((await putEnv(org, { name: "only" })).status).toBe(201);
    expect((await org.reader.get(`/actions/${org.name}`)).json[0]).toMatchObject({ name: "only", number: 4 });
  });

  it("does the same for flows", async () => {
    const { org } = await fixtures.org();
    await fixtures.flow(org, "api");
    await org.member.put(`/actions/${org.name}/flows`, flowAction({ name: "only" }));
    await org.member.put(`/actions/${org.name}/flows`, flowAction({ name: "both", flows: ["api", "web"] }));
    await fixtures.archive("flows", org, "web");
    const list = (await org.reader.get(`/actions/${org.name}`)).json;
    expect(list.map((action: { name: string; flows: string[] }) => [action.name, action.flows])).toEqual([
      ["both", ["api"]],
    ]);
  });

  it.each([
    ["environments", "archive_env environment prod", "archive_env"],
    ["flows", "archive_flow flow prod", "archive_flow"],
  ] as const)(
    "records the actions of %s that it changes, and tells who listens",
    async (kind, itself, by) => {
      const org = await app.org();
      for (const name of ["prod", "stage"])
        await (kind === "flows" ? fixtures.flow(org, name) : fixtures.environment(org, name));
      for (const watched of [["prod"], ["stage"], ["stage", "prod"]]) {
        const action = { name: watched.join("-"), [kind]: watched };
        const { status } = await (kind === "flows"
          ? org.member.put(`/actions/${org.name}/flows`, flowAction(action))
          : putEnv(org, action));
        expect(status).toBe(201);
      }
      const before = await auditedResources(org, app);
      const listening = await listenTo(port, org, org.reader.key, { query: "?topic=action" });
      await fixtures.archive(kind, org, "prod");
      const recorded = (await auditedResources(org, app)).slice(before.length);
      expect(recorded).toEqual([itself, `${by} action 1`, `${by} action 3`]);
      await listening.hears("action", "3");
      listening.stop();
      expect(listening.events.flatMap(({ event, data }) => (event === "change" ? [data.name] : []))).toEqual([
        "1",
        "3",
      ]);
    },
  );

  it.each(["environments", "flows"] as const)(
    "leaves no action of %s behind when one is made at the same moment",
    async (kind) => {
      const { org } = await fixtures.org();
      const make = (name: string, watched: string) =>
        kind === "flows"
          ? org.member.put(`/actions/${org.name}/flows`, flowAction({ name, flows: [watched] }))
          : putEnv(org, { name, environments: [watched] });
      for (let round = 0; round < 10; round += 1) {
        const watched = `w-${round}`;
        await (kind === "flows" ? fixtures.flow(org, watched) : fixtures.environment(org, watched));
        const [answers] = await Promise.all([
          Promise.all(Array.from({ length: 4 }, (_, index) => make(`n${index}`, watched))),
          fixtures.archive(kind, org, watched),
        ]);
        for (const { status } of answers) expect([201, 400]).toContain(status);
      }
      expect((await org.reader.get(`/actions/${org.name}`)).json).toEqual([]);
    },
  );
});
