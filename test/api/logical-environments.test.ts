import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const onlyPhysical = { message: "Can only add physical environments to logical environments" };
const unknown = (name: string, org: TestOrg): object => ({
  message: `Environment named '${name}' does not exist for organization '${org.name}'`,
});

async function included(org: TestOrg, name: string): Promise<string[]> {
  return (await org.reader.get(`/environments/${org.name}/${name}`)).json.included_environments;
}

/** An organization with `k8s`, `ecs`, `s3` and the logical `all`. */
async function withMembers(members?: string[]): Promise<TestOrg> {
  const org = await app.org();
  for (const name of ["k8s", "ecs", "s3"]) await createEnvironment(org, name);
  await createEnvironment(org, "all", {
    type: "logical",
    ...(members === undefined ? {} : { included_environments: members }),
  });
  return org;
}

describe("members given with PUT and PATCH", () => {
  it("keep their order, once each, and are none at first", async () => {
    const org = await withMembers();
    expect(await included(org, "all")).toEqual([]);
    await createEnvironment(org, "all", { type: "logical", included_environments: ["s3", "k8s", "s3"] });
    expect(await included(org, "all")).toEqual(["s3", "k8s"]);
    await createEnvironment(org, "all", { type: "logical", description: "absent leaves them" });
    await createEnvironment(org, "all", { type: "logical", included_environments: null });
    expect(await included(org, "all")).toEqual(["s3", "k8s"]);
    await createEnvironment(org, "all", { type: "logical", included_environments: [] });
    expect(await included(org, "all")).toEqual([]);
  });

  it("are replaced, grown and shrunk by PATCH", async () => {
    const org = await withMembers(["k8s"]);
    const patch = (members: string[] | null) =>
      org.member.patch(`/environments/${org.name}/all`, { included_environments: members });
    for (const members of [["ecs", "k8s", "s3"], ["s3"], []]) {
      expect((await patch(members)).status).toBe(200);
      expect(await included(org, "all")).toEqual(members);
    }
    await patch(["ecs"]);
    expect((await patch(null)).status).toBe(200);
    expect(await included(org, "all")).toEqual(["ecs"]);
  });

  it("show in the list as in the single reply", async () => {
    const org = await withMembers(["s3", "ecs"]);
    const single = (await org.reader.get(`/environments/${org.name}/all`)).json;
    expect((await org.reader.get(`/environments/${org.name}?type=logical`)).json).toEqual([single]);
    expect((await org.reader.get(`/environments/${org.name}?type=logical&page=1`)).json.environments).toEqual(
      [single],
    );
  });

  it("must exist", async () => {
    const org = await withMembers(["k8s"]);
    for (const name of ["no-such", ""]) {
      const put = await org.member.put(`/environments/${org.name}`, {
        name: "fresh",
        type: "logical",
        description: "",
        included_environments: ["ecs", name],
      });
      expect([put.status, put.json]).toEqual([404, unknown(name, org)]);
      const patch = await org.member.patch(`/environments/${org.name}/all`, {
        included_environments: [name],
      });
      expect([patch.status, patch.json]).toEqual([404, unknown(name, org)]);
    }
    expect((await org.reader.get(`/environments/${org.name}/fresh`)).status).toBe(404);
    expect(await included(org, "all")).toEqual(["k8s"]);
  });

  it("must be physical, in something logical", async () => {
    const org = await withMembers();
    await createEnvironment(org, "group", { type: "logical" });
    const attempts = [
      org.member.patch(`/environments/${org.name}/k8s`, { included_environments: ["ecs"] }),
      org.member.patch(`/environments/${org.name}/all`, { included_environments: ["group"] }),
      org.member.patch(`/environments/${org.name}/all`, { included_environments: ["all"] }),
      org.member.put(`/environments/${org.name}`, {
        name: "all",
        type: "logical",
        description: "",
        included_environments: ["group"],
      }),
    ];
    for (const answer of await Promise.all(attempts))
      expect([answer.status, answer.json]).toEqual([400, onlyPhysical]);
    expect(
      (await org.member.patch(`/environments/${org.name}/k8s`, { included_environments: [] })).status,
    ).toBe(200);
    expect(await included(org, "k8s")).toBeNull();
  });
});

describe("PUT /environments/{org}/{env_name}/join", () => {
  const join = (org: TestOrg, logical: string, physical: string) =>
    org.member.put(`/environments/${org.name}/${logical}/join`, { physical_env_name: physical });

  it("adds at the end, and twice is once", async () => {
    const org = await withMembers(["s3"]);
    for (const name of ["k8s", "k8s", "ecs", "s3"]) expect((await join(org, "all", name)).text).toBe('"OK"');
    expect(await included(org, "all")).toEqual(["s3", "k8s", "ecs"]);
    const joins = (await auditedResources(org, app)).filter((entry) => entry.startsWith("join"));
    expect(joins).toEqual(Array.from({ length: 2 }, () => "join_physical_to_logical environment all"));
  });

  it("adds everything when many join at once", async () => {
    const org = await withMembers();
    const answers = await Promise.all(
      ["k8s", "ecs", "s3", "k8s", "ecs", "s3"].map((name) => join(org, "all", name)),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect((await included(org, "all")).toSorted()).toEqual(["ecs", "k8s", "s3"]);
  });

  it("refuses what cannot be joined", async () => {
    const org = await withMembers();
    await createEnvironment(org, "group", { type: "logical" });
    for (const [logical, physical] of [
      ["k8s", "ecs"],
      ["all", "group"],
      ["all", "all"],
    ] as const) {
      const answer = await join(org, logical, physical);
      expect([answer.status, answer.json]).toEqual([400, onlyPhysical]);
    }
    const target = await join(org, "nope", "k8s");
    expect([target.status, target.json]).toEqual([404, unknown("nope", org)]);
    const source = await join(org, "all", "nope");
    expect([source.status, source.json]).toEqual([404, unknown("nope", org)]);
    const extra = await org.member.put(`/environments/${org.name}/all/join`, {
      physical_env_name: "k8s",
      x: 1,
    });
    expect(extra.json.errors).toEqual({ x: "Extra inputs are not permitted [input: 1]" });
  });
});

describe("what a logical environment has from its members", () => {
  it("names them as they are called now", async () => {
    const org = await withMembers(["k8s", "ecs"]);
    await org.member.put(`/environments/${org.name}/k8s/rename`, { new_name: "kube" });
    expect(await included(org, "all")).toEqual(["kube", "ecs"]);
    await createEnvironment(org, "all", { type: "logical", included_environments: ["ecs", "k8s"] });
    expect(await included(org, "all")).toEqual(["ecs", "kube"]);
  });

  it("drops archived members", async () => {
    const org = await withMembers(["k8s", "ecs"]);
    await org.member.put(`/environments/${org.name}/k8s/archive`);
    expect(await included(org, "all")).toEqual(["ecs"]);
    const again = await join(org);
    expect([again.status, again.json]).toEqual([
      404,
      { message: `Environment named 'k8s' has been archived for organization '${org.name}'` },
    ]);
    function join(inOrg: TestOrg) {
      return inOrg.member.put(`/environments/${inOrg.name}/all/join`, { physical_env_name: "k8s" });
    }
  });

  it("counts as modified when a member's settings change", async () => {
    const org = await withMembers(["k8s"]);
    const modified = async () =>
      (await org.reader.get(`/environments/${org.name}/all`)).json.last_modified_at;
    const changes = [
      () => createEnvironment(org, "k8s", { description: "new" }),
      () => org.member.patch(`/environments/${org.name}/k8s`, { description: "newer" }),
      () => org.member.put(`/environments/${org.name}/k8s/rename`, { new_name: "kube" }),
      () => org.member.put(`/environments/${org.name}/kube/archive`),
      () => org.member.put(`/environments/${org.name}/all/join`, { physical_env_name: "ecs" }),
    ];
    for (const change of changes) {
      const before = await modified();
      app.clock.advance(5);
      await change();
      expect(await modified()).toBeGreaterThan(before + 4);
    }
  });

  it("is non-compliant when any is, compliant when all are, unknown else, and changed by every snapshot", async () => {
    const org = await withMembers();
    const states = { k8s: true, ecs: false, s3: null };
    for (const [name, state] of Object.entries(states)) {
      const report = { artifacts: [] };
      await org.snapshotter.put(`/environments/${org.name}/${name}/report/K8S`, report);
      const set = "update environments set state = $3 where org_id = $1 and name = $2";
      await app.deps.db.pool.query(set, [org.id, name, state]);
    }
    let changed = 0;
    for (const [members, state] of [
      [["k8s"], true],
      [["k8s", "s3"], null],
      [["k8s", "ecs", "s3"], false],
      [[], null],
    ] as const) {
      await org.member.patch(`/environments/${org.name}/all`, { included_environments: members });
      const { json } = await org.reader.get(`/environments/${org.name}/all`);
      expect([json.state, json.last_reported_at]).toEqual([state, null]);
      expect(json.last_changed_at).toBeGreaterThan(changed);
      changed = json.last_changed_at;
    }
  });

  it("survives everything happening at once", async () => {
    const org = await withMembers(["k8s", "ecs"]);
    const path = `/environments/${org.name}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => [
        org.member.put(path, {
          name: "all",
          type: "logical",
          description: `d${index}`,
          included_environments: index % 2 === 0 ? ["k8s", "s3"] : ["s3", "ecs"],
        }),
        org.member.put(path, { name: "k8s", type: "K8S", description: `d${index}` }),
        org.member.patch(`${path}/ecs`, { description: `d${index}` }),
        org.member.put(`${path}/s3/rename`, { new_name: `s3-${index}` }),
        org.member.put(`${path}/all/join`, { physical_env_name: "ecs" }),
      ]).flat(),
    );
    expect(answers.map(({ status }) => status).filter((status) => ![200, 201].includes(status))).toEqual([]);
    expect((await org.member.put(`${path}/ecs/archive`)).status).toBe(200);
    expect((await included(org, "all")).some((name) => name === "ecs")).toBe(false);
  });
});
