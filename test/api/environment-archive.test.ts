import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { putEnv } from "../support/actions.ts";
import { auditedResources, createEnvironment, listedNames } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const archivedText = (name: string, org: TestOrg): object => ({
  message: `Environment named '${name}' has been archived for organization '${org.name}'`,
});
const archive = (org: TestOrg, name: string) => org.member.put(`/environments/${org.name}/${name}/archive`);

async function archivedNameOf(org: TestOrg): Promise<string> {
  const [name] = await listedNames(org.reader, org, "?archived=true");
  return name!;
}

/** The environments that each of the organization's actions watches, by the action's name. */
async function watched(org: TestOrg): Promise<Record<string, string[]>> {
  const actions: { name: string; environments: string[] }[] = (await org.reader.get(`/actions/${org.name}`))
    .json;
  return Object.fromEntries(actions.map(({ name, environments }) => [name, environments]));
}

describe("PUT /environments/{org}/{env_name}/archive", () => {
  it("keeps the record under another name and frees its own", async () => {
    const org = await app.org();
    const archiver = await app.user({ display_name: "Ann Archer" });
    await app.deps.db.pool.query(
      "insert into memberships (org_id, user_id, role, created_at) values ($1, $2, 'member', now())",
      [org.id, archiver.id],
    );
    await createEnvironment(org, "prod", { description: "kept", type: "ECS" });
    const before = app.clock.now();
    const answer = await archiver.client.request("PUT", `/environments/${org.name}/prod/archive`, {
      payload: "null",
      headers: { "content-type": "application/json; charset=utf-8" },
    });
    expect([answer.status, answer.text]).toEqual([200, '"OK"']);

    expect(await listedNames(org.reader, org)).toEqual([]);
    const list = await org.reader.get(`/environments/${org.name}?archived=true`);
    const [shown] = list.json;
    expect(shown).toMatchObject({ description: "kept", type: "ECS", archived_by: "Ann Archer" });
    expect(shown.archived_at).toBeGreaterThanOrEqual(before);
    expect(shown.name).toBe(`prod-archived-at-${Math.floor(shown.archived_at)}`);

    const old = await org.reader.get(`/environments/${org.name}/prod`);
    expect([old.status, old.json]).toEqual([404, archivedText("prod", org)]);
    const byName = await org.reader.get(`/environments/${org.name}/${shown.name}`);
    expect([byName.status, byName.json]).toEqual([200, shown]);
  });

  it("names the archiver Unknown once that user is deleted", async () => {
    const org = await app.org();
    const user = await app.user();
    await app.deps.db.pool.query(
      "insert into memberships (org_id, user_id, role, created_at) values ($1, $2, 'admin', now())",
      [org.id, user.id],
    );
    await createEnvironment(org, "e");
    await user.client.put(`/environments/${org.name}/e/archive`);
    const path = `/environments/${org.name}/${await archivedNameOf(org)}`;
    expect((await org.reader.get(path)).json.archived_by).toBe(user.name);
    await app.deps.db.pool.query("update users set deleted_at = now() where id = $1", [user.id]);
    expect((await org.reader.get(path)).json.archived_by).toBe("Unknown");
    const list = await org.reader.get(`/environments/${org.name}?archived=true&page=1`);
    expect(list.json.environments[0].archived_by).toBe("Unknown");
  });

  it("names a service account likewise", async () => {
    const org = await app.org();
    await createEnvironment(org, "e");
    await archive(org, "e");
    const { pool } = app.deps.db;
    const account = app.deps.ids.next();
    await pool.query(
      `insert into service_accounts (org_id, id, name, display_name, privilege, creating_user_id, creating_user_name,
         created_at) values ($1, $2, 'pipeline', 'pipeline', 'member', $2, 'x', now())`,
      [org.id, account],
    );
    await pool.query(
      "update environments set archived_by_kind = 'service_account', archived_by_id = $2 where org_id = $1",
      [org.id, account],
    );
    const path = `/environments/${org.name}/${await archivedNameOf(org)}`;
    expect((await org.reader.get(path)).json.archived_by).toBe("pipeline");
    await pool.query("update service_accounts set archived_at = now() where id = $1", [account]);
    expect((await org.reader.get(path)).json.archived_by).toBe("Unknown");
  });

  it("is 404 the second time, by either name, and for a name nobody has", async () => {
    const org = await app.org();
    await createEnvironment(org, "e");
    await archive(org, "e");
    const archived = await archivedNameOf(org);
    for (const name of ["e", archived]) {
      const again = await archive(org, name);
      expect([again.status, again.json]).toEqual([404, archivedText(name, org)]);
    }
    const none = await archive(org, "none");
    expect([none.status, none.json]).toEqual([
      404,
      { message: `Environment named 'none' does not exist for organization '${org.name}'` },
    ]);
    expect(await auditedResources(org, app)).toEqual([
      "create_env environment e",
      "archive_env environment e",
    ]);
  });

  it("leaves an archived environment unchangeable under every name", async () => {
    const org = await app.org();
    await createEnvironment(org, "first");
    await org.member.put(`/environments/${org.name}/first/rename`, { new_name: "second" });
    await archive(org, "second");
    for (const name of ["first", "second", await archivedNameOf(org)]) {
      const path = `/environments/${org.name}/${name}`;
      for (const answer of [
        await org.member.patch(path, { description: "x" }),
        await org.member.put(`${path}/rename`, { new_name: "third" }),
        await org.member.put(`${path}/join`, { physical_env_name: "x" }),
      ])
        expect([answer.status, answer.json]).toEqual([404, archivedText(name, org)]);
    }
    expect((await org.reader.get(`/environments/${org.name}/first`)).json).toEqual(
      archivedText("first", org),
    );
  });

  it("lets PUT make a fresh environment of the name, also of another type", async () => {
    const org = await app.org();
    await createEnvironment(org, "e", { type: "K8S", description: "old" });
    await org.member.patch(`/tags/${org.name}/env/e`, { set_tags: { a: "b" } });
    await archive(org, "e");
    await createEnvironment(org, "e", { type: "S3" });
    const fresh = await org.reader.get(`/environments/${org.name}/e`);
    expect(fresh.json).toMatchObject({ type: "S3", description: "", tags: {}, archived_at: null });
  });

  it("refuses to create an environment under the name of an archived record", async () => {
    const org = await app.org();
    await createEnvironment(org, "e");
    await archive(org, "e");
    const name = await archivedNameOf(org);
    const answer = await org.member.put(`/environments/${org.name}`, { name, type: "K8S", description: "x" });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(name);
  });

  it("does not collide when one name is archived many times within a second", async () => {
    const org = await app.org();
    for (let round = 0; round < 5; round += 1) {
      await createEnvironment(org, "busy");
      expect((await archive(org, "busy")).status).toBe(200);
    }
    const names = await listedNames(org.reader, org, "?archived=true");
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^busy-archived-at-\d+$/);
  });

  it("keeps totals right", async () => {
    const org = await app.org();
    for (const name of ["a", "b", "c"]) await createEnvironment(org, name, { type: "ECS" });
    await archive(org, "b");
    const total = async (query: string) =>
      (await org.reader.get(`/environments/${org.name}?per_page=1${query}`)).json.total_count;
    expect(await total("")).toBe(2);
    expect(await total("&type=ECS")).toBe(2);
    expect(await total("&archived=true")).toBe(1);
    expect(await total("&archived=true&type=ECS&type=K8S")).toBe(1);
    expect(await total("&archived=true&type=K8S")).toBe(0);
  });

  it("takes the environment out of actions, and deletes actions of which it was the last", async () => {
    const org = await app.org();
    for (const name of ["a", "b"]) await createEnvironment(org, name);
    await putEnv(org, { name: "first", environments: ["a"] });
    await putEnv(org, { name: "both", environments: ["a", "b"] });
    await putEnv(org, { name: "second", environments: ["b"] });
    await archive(org, "a");
    expect(await watched(org)).toEqual({ both: ["b"], second: ["b"] });
  });

  it("deletes an action whose environments are all archived at once", async () => {
    const org = await app.org();
    const names = ["a", "b", "c", "d"];
    for (const name of names) await createEnvironment(org, name);
    await putEnv(org, { environments: names });
    const answers = await Promise.all(names.map((name) => archive(org, name)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await watched(org)).toEqual({});
  });

  it("races with PUT without losing or doubling anything", async () => {
    const org = await app.org();
    await createEnvironment(org, "e");
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 3 === 0
          ? archive(org, "e")
          : org.snapshotter.put(`/environments/${org.name}`, {
              name: "e",
              type: "K8S",
              description: `${index}`,
            }),
      ),
    );
    for (const { status } of answers) expect([200, 201, 404]).toContain(status);
    const archivings = answers.filter(
      (answer) => answer.operation === "archive_env" && answer.status === 200,
    );
    expect(await listedNames(org.reader, org, "?archived=true")).toHaveLength(archivings.length);
    await createEnvironment(org, "e");
    const list = await org.reader.get(`/environments/${org.name}?page=1`);
    expect(list.json.total_count).toBe(1);
    expect(list.json.environments).toHaveLength(1);
  });
});
