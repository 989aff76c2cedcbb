import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer, Parts } from "../support/client.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  org = await app.org();
});
afterAll(() => app.close());

/** A call as the provider makes it: no body and no content type where there is nothing to say. */
function call(method: string, path: string, body?: { json?: unknown; parts?: Parts }): Promise<Answer> {
  return org.member.request(method, path, body);
}

async function ok(method: string, path: string, body?: { json?: unknown; parts?: Parts }) {
  const answer = await call(method, path, body);
  expect([method, path, answer.status >= 200 && answer.status < 300, answer.json?.message]).toEqual([
    method,
    path,
    true,
    undefined,
  ]);
  return answer.json;
}

/** What the provider takes for "the resource is gone", or shows to the user. */
async function refused(method: string, path: string, status: number): Promise<string> {
  const answer = await call(method, path);
  expect([answer.status, typeof answer.json.message]).toEqual([status, "string"]);
  return answer.json.message;
}

const file = (filename: string, content: string) => ({ filename, content });

describe("environments", () => {
  const put = (name: string, type: string, more: object = {}) =>
    ok("PUT", `/environments/${org.name}`, {
      json: {
        name,
        type,
        description: "",
        include_scaling: false,
        included_environments: null,
        policies: null,
        ...more,
      },
    });
  const read = (name: string) => ok("GET", `/environments/${org.name}/${name}`);
  const patch = (name: string, json: object) => ok("PATCH", `/environments/${org.name}/${name}`, { json });

  it.each(["K8S", "ECS", "S3", "docker", "server", "lambda"])(
    "of type %s live and come again",
    async (type) => {
      expect(await put("e", type, { description: "first" })).toBe("OK");
      expect(await read("e")).toMatchObject({
        name: "e",
        type,
        description: "first",
        tags: {},
        policies: [],
      });
      await put("e", type);
      expect((await read("e")).description).toBe("first");
      await patch("e", { description: "", include_scaling: true });
      expect(await read("e")).toMatchObject({ description: "", include_scaling: false });
      await ok("PUT", `/environments/${org.name}/e/archive`);
      expect(await refused("GET", `/environments/${org.name}/e`, 404)).toBe(
        `Environment named 'e' has been archived for organization '${org.name}'`,
      );
      await put("e", type === "K8S" ? "ECS" : "K8S");
      expect(await read("e")).toMatchObject({ type: type === "K8S" ? "ECS" : "K8S", last_reported_at: null });
    },
  );

  it("that are logical keep the order of their members", async () => {
    for (const name of ["c", "a", "b"]) await put(name, "K8S");
    await put("all", "logical", { included_environments: [] });
    expect((await read("all")).included_environments).toEqual([]);
    for (const included_environments of [["c", "a"], ["b", "c", "a"], ["a"], []]) {
      await patch("all", { description: "d", included_environments });
      expect((await read("all")).included_environments).toEqual(included_environments);
    }
    const nested = await call("PATCH", `/environments/${org.name}/all`, {
      json: { description: "", included_environments: ["all"] },
    });
    expect(nested.status).toBe(400);
  });

  it("show their tags at once, and keep them through updates", async () => {
    await put("e", "K8S");
    const tag = (json: object) => ok("PATCH", `/tags/${org.name}/environment/e`, { json });
    await tag({ set_tags: { "managed-by": "terraform", team: "a" }, remove_tags: [] });
    await tag({ set_tags: { team: "b" }, remove_tags: ["absent"] });
    await patch("e", { description: "new", include_scaling: false });
    expect((await read("e")).tags).toEqual({ "managed-by": "terraform", team: "b" });
    await tag({ set_tags: {}, remove_tags: ["managed-by", "team"] });
    expect((await read("e")).tags).toEqual({});
    const bad = await call("PATCH", `/tags/${org.name}/environment/e`, {
      json: { set_tags: { "#": "x" }, remove_tags: [] },
    });
    expect(bad.status).toBe(400);
  });
});

describe("flows", () => {
  const put = (name: string, description: string, template?: string) =>
    ok("PUT", `/flows/${org.name}/template_file`, {
      parts: {
        data_json: JSON.stringify({ name, description, visibility: "private" }),
        ...(template === undefined ? {} : { template_file: file("template.yml", template) }),
      },
    });
  const read = (name: string) => ok("GET", `/flows/${org.name}/${name}`);

  it("have a template when none was given, and afterwards exactly the one that was", async () => {
    await put("f", "");
    expect(await read("f")).toMatchObject({ name: "f", description: "", visibility: "private", tags: {} });
    expect((await read("f")).template).not.toBe("");
    const trail = "version: 1\ntrail:\n  attestations:\n    - name: a # why\n      type: junit\n";
    const artifacts = "# only these\nversion: 1\ntrail:\n  artifacts:\n    - name: web\n\n\n";
    for (const template of [trail, artifacts, "version: 1"]) {
      await put("f", "described", template);
      expect(await read("f")).toMatchObject({ description: "described", template });
      await put("f", "");
      expect(await read("f")).toMatchObject({ description: "", template });
    }
    await ok("PUT", `/flows/${org.name}/f/archive`);
    await refused("GET", `/flows/${org.name}/f`, 404);
    expect(await ok("GET", `/flows/${org.name}`)).toEqual([]);
    await put("f", "again");
    expect((await read("f")).description).toBe("again");
  });
});

describe("policies and their attachments", () => {
  const put = (yaml: string, description = "") =>
    ok("PUT", `/policies/${org.name}`, {
      parts: {
        payload: JSON.stringify({ name: "p", description, type: "env", comment: "" }),
        policy_file: file("policy.yaml", yaml),
      },
    });
  const text = (required: boolean) =>
    `_schema: https://docs.kosli.com/schemas/policy/v1\nartifacts:\n  provenance:\n    required: ${required}\n`;

  it("have one version more for each other text, and keep the time they were made", async () => {
    await put(text(true));
    const first = await ok("GET", `/policies/${org.name}/p`);
    expect(first).toMatchObject({
      name: "p",
      description: "",
      versions: [{ version: 1, policy_yaml: text(true) }],
    });
    await put(text(false), "why");
    const second = await ok("GET", `/policies/${org.name}/p`);
    expect(second.created_at).toBe(first.created_at);
    expect(second.description).toBe("why");
    expect(Math.max(...second.versions.map(({ version }: { version: number }) => version))).toBe(2);
    expect(second.versions.at(-1)).toMatchObject({ version: 2, policy_yaml: text(false) });
    await refused("GET", `/policies/${org.name}/none`, 404);
  });

  it("are attached and detached one by one, and gone ones are 404", async () => {
    await put(text(true));
    const environment = { name: "e", type: "K8S", description: "" };
    await ok("PUT", `/environments/${org.name}`, { json: environment });
    const path = `/environments/${org.name}/e/policies`;
    const attached = async () => (await ok("GET", `/environments/${org.name}/e`)).policies;
    await ok("POST", path, { json: { policy_names: ["p"] } });
    expect(await attached()).toEqual(["p"]);
    await ok("DELETE", path, { json: { policy_names: ["p"] } });
    expect(await attached()).toEqual([]);
    for (const [method, place, policy] of [
      ["POST", "e", "none"],
      ["DELETE", "e", "none"],
      ["POST", "none", "p"],
      ["DELETE", "none", "p"],
    ] as const) {
      const json = { policy_names: [policy] };
      const answer = await call(method, `/environments/${org.name}/${place}/policies`, { json });
      expect([method, place, policy, answer.status]).toEqual([method, place, policy, 404]);
    }
  });
});

describe("custom attestation types", () => {
  const path = () => `/custom-attestation-types/${org.name}`;
  const post = async (data: object, schema?: object) => {
    const answer = await call("POST", path(), {
      parts: {
        data_json: JSON.stringify({ name: "cov", description: "", ...data }),
        ...(schema === undefined ? {} : { type_schema: file("schema.json", JSON.stringify(schema)) }),
      },
    });
    // Any other success is an unexpected status to the provider.
    expect([answer.status, answer.json]).toEqual([201, "OK"]);
  };
  const read = () => ok("GET", `${path()}/cov`);

  it("have a version for each change, the newest first, and none for the same again", async () => {
    const schema = { type: "object", required: ["line"] };
    const withoutRules = { content_type: "default" };
    const evaluator = { content_type: "jq", rules: [".line >= 80", ".line <= 100"] };
    await post({ evaluator }, schema);
    await post({ evaluator }, schema);
    expect((await read()).versions).toMatchObject([{ version: 1, type_schema: schema, evaluator }]);
    await post({ evaluator });
    await post({});
    await post({ description: "d" });
    expect((await read()).versions).toMatchObject([
      { version: 4, type_schema: null, evaluator: withoutRules },
      { version: 3, type_schema: null, evaluator: withoutRules },
      { version: 2, type_schema: null, evaluator },
      { version: 1, type_schema: schema, evaluator },
    ]);
    await ok("PUT", `${path()}/cov/archive`);
    expect(await read()).toMatchObject({ name: "cov", org: org.name, archived: true, description: "d" });
    await post({ description: "d" });
    expect((await read()).archived).toBe(false);
    await refused("GET", `${path()}/none`, 404);
  });
});

describe("actions", () => {
  const path = (number?: number) =>
    `/organizations/${org.name}/environments_notifications${number === undefined ? "" : `/${number}`}`;
  const action = (name: string, more: object = {}) => ({
    json: {
      name,
      type: "env",
      environments: ["z", "a"],
      triggers: ["ON_SCALED_ARTIFACT", "ON_NON_COMPLIANT_ENV", "ON_COMPLIANT_ENV"],
      targets: [{ type: "WEBHOOK", webhook: "https://hooks.example.com/s3cret" }],
      ...more,
    },
  });
  /** Finds what was just made the way the provider does. */
  const find = async (name: string) =>
    (await ok("GET", path())).find((each: { name: string }) => each.name === name);

  it("are found by name after they were made, changed by number, and gone when deleted", async () => {
    for (const name of ["z", "a"])
      await ok("PUT", `/environments/${org.name}`, { json: { name, type: "K8S", description: "" } });
    expect(await ok("GET", path())).toEqual([]);
    await ok("PUT", path(), action("first"));
    await ok("PUT", path(), action("second", { environments: ["z"] }));
    const made = await find("second");
    expect(Number.isInteger(made.number)).toBe(true);
    expect(await ok("GET", path(made.number))).toEqual(made);
    expect(await find("first")).toMatchObject({
      environments: ["z", "a"],
      triggers: ["ON_SCALED_ARTIFACT", "ON_NON_COMPLIANT_ENV", "ON_COMPLIANT_ENV"],
    });
    for (const target of made.targets) expect(["", undefined]).toContain(target.webhook);
    await ok("PUT", path(made.number), action("second", { triggers: ["ON_COMPLIANT_ENV"] }));
    const changed = await ok("GET", path(made.number));
    expect(changed).toMatchObject({
      number: made.number,
      created_by: made.created_by,
      created_at: made.created_at,
      triggers: ["ON_COMPLIANT_ENV"],
      environments: ["z", "a"],
    });
    expect((await ok("GET", path(made.number))).last_modified_at).toBe(changed.last_modified_at);
    await ok("DELETE", path(made.number));
    await refused("GET", path(made.number), 404);
    await refused("DELETE", path(made.number), 404);
    expect((await call("PUT", path(made.number), action("second"))).status).toBe(404);
    await ok("PUT", `/environments/${org.name}/z/archive`);
    expect((await find("first")).environments).toEqual(["a"]);
    await ok("PUT", `/environments/${org.name}/a/archive`);
    expect(await ok("GET", path())).toEqual([]);
  });
});
