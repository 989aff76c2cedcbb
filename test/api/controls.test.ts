import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl, unknownControl } from "../support/controls.ts";
import { auditedResources } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const invalid = "Input payload validation failed";

async function versionsOf(org: TestOrg, identifier: string): Promise<number> {
  return (await org.reader.get(`/controls/${org.name}/${identifier}/versions`)).json.total_count;
}

describe("POST /controls/{org}", () => {
  it("creates a control, which can be read at once", async () => {
    const org = await app.org();
    const links = { grc: "https://grc.acme.io/7", "docs.v1.2": "https://docs.acme.io" };
    const body = { identifier: "CTL-7", name: "Peer review", description: "Four eyes", links };
    const before = app.clock.now();
    const created = await org.admin.post(`/controls/${org.name}`, body);
    expect(created.status).toBe(201);
    const { created_at, created_by, ...rest } = created.json;
    expect(rest).toEqual({ ...body, version: 1, archived: false, tags: {} });
    expect(created_at).toBeGreaterThanOrEqual(before);
    expect(created_at).toBeLessThanOrEqual(app.clock.now());
    expect(created_by).toMatch(/^user-/);
    const read = await org.reader.get(`/controls/${org.name}/CTL-7`);
    expect([read.status, read.json]).toEqual([200, { ...created.json, policies_referencing: [] }]);
  });

  it("names its creator as people know them", async () => {
    const ann = await app.user({ display_name: "Ann Lee" });
    const own = await ann.client.post(`/controls/${ann.name}`, { identifier: "a", name: "A" });
    expect([own.status, own.json.created_by]).toEqual([201, "Ann Lee"]);
  });

  it.each([
    { identifier: "a", name: "A" },
    { identifier: "a", name: "A", description: null, links: null },
    { identifier: "a", name: "A", links: {} },
  ])("needs no more than identifier and name: %j", async (body) => {
    const org = await app.org();
    const answer = await org.admin.post(`/controls/${org.name}`, body);
    expect([answer.status, answer.json]).toMatchObject([201, { description: null, links: {} }]);
  });

  it.each(["a", "-._~", "7", "A".repeat(256), "...", "x..y", "constructor"])(
    "takes the identifier %s",
    async (identifier) => {
      const org = await app.org();
      await createControl(org, identifier);
      const read = await org.reader.get(`/controls/${org.name}/${identifier}`);
      expect([read.status, read.json.identifier]).toEqual([200, identifier]);
    },
  );

  const pattern = String.raw`String should match pattern '^[a-zA-Z0-9\-._~]+$'`;
  const long = "a".repeat(257);
  it.each([
    [{ identifier: "bad identifier" }, "identifier", `${pattern} [input: bad identifier]`],
    [{ identifier: "" }, "identifier", `${pattern} [input: ]`],
    [{ identifier: "a/b" }, "identifier", `${pattern} [input: a/b]`],
    [{ identifier: "a\n" }, "identifier", `${pattern} [input: a\n]`],
    [
      { identifier: long },
      "identifier",
      `String should have at most 256 characters [input: ${"a".repeat(200)}…]`,
    ],
    [{ identifier: ".." }, "identifier", "Identifier is reserved [input: ..]"],
    [{ identifier: "tags" }, "identifier", "Identifier is reserved [input: tags]"],
    [{ identifier: undefined }, "identifier", "Field required [input: None]"],
    [{ identifier: 7 }, "identifier", "Input should be a valid string [input: 7]"],
    [{ name: undefined }, "name", "Field required [input: None]"],
    [{ name: null }, "name", "Input should be a valid string [input: None]"],
    [{ name: "" }, "name", "String should have at least 1 character [input: ]"],
    [
      { name: "n".repeat(513) },
      "name",
      `String should have at most 512 characters [input: ${"n".repeat(200)}…]`,
    ],
    [{ description: 1 }, "description", "Input should be a valid string [input: 1]"],
    [{ links: [] }, "links", "Input should be a valid dictionary [input: []]"],
    [{ links: { a: 1 } }, "links.a", "Input should be a valid string [input: 1]"],
    [{ links: { a: null } }, "links.a", "Input should be a valid string [input: None]"],
    [{ version: 3 }, "version", "Extra inputs are not permitted [input: 3]"],
    [{ tags: {} }, "tags", "Extra inputs are not permitted [input: {}]"],
  ])("refuses %j", async (change, location, text) => {
    const org = await app.org();
    const answer = await org.admin.post(`/controls/${org.name}`, { identifier: "a", name: "A", ...change });
    expect([answer.status, answer.json]).toEqual([400, { message: invalid, errors: { [location]: text } }]);
    expect((await org.reader.get(`/controls/${org.name}`)).json.total_count).toBe(0);
  });

  it("limits links and descriptions", async () => {
    const org = await app.org();
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, "https://x"]));
    await createControl(org, "most", { links: many(100), description: "d".repeat(10_000) });
    await createControl(org, "longest", { links: { ["k".repeat(128)]: "v".repeat(2048) } });
    for (const body of [
      { links: many(101) },
      { links: { ["k".repeat(129)]: "" } },
      { links: { "": "x" } },
      { links: { k: "v".repeat(2049) } },
      { description: "d".repeat(10_001) },
    ]) {
      const answer = await org.admin.post(`/controls/${org.name}`, { identifier: "a", name: "A", ...body });
      expect([answer.status, answer.json.message]).toEqual([400, invalid]);
    }
  });

  it("refuses an identifier in use, also by an archived control", async () => {
    const org = await app.org();
    await createControl(org, "CTL-1", { name: "first" });
    const conflict = [
      409,
      { message: `A control with identifier 'CTL-1' already exists in organization '${org.name}'` },
    ];
    const body = { identifier: "CTL-1", name: "second" };
    const again = await org.admin.post(`/controls/${org.name}`, body);
    expect([again.status, again.json]).toEqual(conflict);
    await org.admin.post(`/controls/${org.name}/CTL-1/archive`, null);
    const archived = await org.admin.post(`/controls/${org.name}`, body);
    expect([archived.status, archived.json]).toEqual(conflict);
    expect((await org.reader.get(`/controls/${org.name}/CTL-1`)).json.name).toBe("first");
    await createControl(org, "ctl-1");
    await createControl(await app.org(), "CTL-1");
    expect(await auditedResources(org, app)).toEqual([
      "post_control control CTL-1",
      "archive_control control CTL-1",
      "post_control control ctl-1",
    ]);
  });

  it("creates one control for fifty simultaneous requests", async () => {
    const org = await app.org();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        org.admin.post(`/controls/${org.name}`, { identifier: "CTL-1", name: `n${index}` }),
      ),
    );
    const created = answers.filter(({ status }) => status === 201);
    expect(created).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    const { policies_referencing: _, ...read } = (await org.reader.get(`/controls/${org.name}/CTL-1`)).json;
    expect(read).toEqual(created[0]!.json);
    expect(await versionsOf(org, "CTL-1")).toBe(1);
    expect(await auditedResources(org, app)).toEqual(["post_control control CTL-1"]);
  });
});

describe("PUT /controls/{org}/{identifier}", () => {
  it("changes what is given and makes a version", async () => {
    const org = await app.org();
    const { json: first } = await createControl(org, "c", {
      description: "old",
      links: { a: "https://a", b: "https://b" },
    });
    const put = async (body: unknown) => {
      const answer = await org.admin.put(`/controls/${org.name}/c`, body);
      expect(answer.status).toBe(200);
      const { policies_referencing: _, ...read } = (await org.reader.get(`/controls/${org.name}/c`)).json;
      expect(read).toEqual(answer.json);
      return answer.json;
    };
    app.clock.advance(10);
    expect(await put({ name: "New" })).toEqual({ ...first, name: "New", version: 2 });
    expect(await put({ description: "new" })).toMatchObject({ name: "New", description: "new", version: 3 });
    expect(await put({ links: { "b.c": "https://c" } })).toMatchObject({
      links: { "b.c": "https://c" },
      version: 4,
    });
    const kept = { name: null, description: null, links: null };
    expect(await put({ ...kept, name: "Newer" })).toMatchObject({
      name: "Newer",
      description: "new",
      links: { "b.c": "https://c" },
      version: 5,
    });
    expect(await put({ ...kept, description: "" })).toMatchObject({ description: "", version: 6 });
    expect(await put({ ...kept, links: {} })).toMatchObject({ links: {}, version: 7, name: "Newer" });
    expect(await auditedResources(org, app)).toEqual([
      "post_control control c",
      ...Array.from({ length: 6 }, () => "put_control control c"),
    ]);
  });

  it("makes a version each time it is repeated", async () => {
    const org = await app.org();
    const { json: first } = await createControl(org, "c", { description: "d", links: { a: "1", b: "2" } });
    for (const body of [{ name: "c" }, { name: "c" }, { description: "d", links: { b: "2", a: "1" } }]) {
      const version = (await versionsOf(org, "c")) + 1;
      const answer = await org.admin.put(`/controls/${org.name}/c`, body);
      expect([answer.status, answer.json]).toEqual([200, { ...first, version }]);
    }
    expect(await versionsOf(org, "c")).toBe(4);
  });

  it.each([{}, { name: null, description: null, links: null }])(
    "leaves no trace when it says nothing: %j",
    async (body) => {
      const org = await app.org();
      const { json: first } = await createControl(org, "c", { description: "d", links: { a: "1", b: "2" } });
      const answer = await org.admin.put(`/controls/${org.name}/c`, body);
      expect([answer.status, answer.json]).toEqual([200, first]);
      expect(await versionsOf(org, "c")).toBe(1);
      expect(await auditedResources(org, app)).toEqual(["post_control control c"]);
    },
  );

  it.each([
    [{ identifier: "d" }, "identifier", "Extra inputs are not permitted [input: d]"],
    [{ archived: true }, "archived", "Extra inputs are not permitted [input: True]"],
    [{ name: "" }, "name", "String should have at least 1 character [input: ]"],
    [{ name: 1 }, "name", "Input should be a valid string [input: 1]"],
    [{ links: { a: [] } }, "links.a", "Input should be a valid string [input: []]"],
  ])("refuses %j", async (body, location, text) => {
    const org = await app.org();
    await createControl(org, "c");
    const answer = await org.admin.put(`/controls/${org.name}/c`, body);
    expect([answer.status, answer.json]).toEqual([400, { message: invalid, errors: { [location]: text } }]);
    expect(await versionsOf(org, "c")).toBe(1);
  });

  it("numbers simultaneous edits one by one", async () => {
    const org = await app.org();
    await createControl(org, "c");
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        org.admin.put(`/controls/${org.name}/c`, { name: `n${index}` }),
      ),
    );
    expect(answers.map(({ json }) => json.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 2),
    );
    const last = answers.find(({ json }) => json.version === 21)!;
    expect((await org.reader.get(`/controls/${org.name}/c`)).json).toMatchObject(last.json);
  });
});

describe("archiving", () => {
  it.each([null, undefined, {}])("retires a control and brings it back, with the body %j", async (body) => {
    const org = await app.org();
    const { json: first } = await createControl(org, "c", { description: "d", links: { a: "1" } });
    const archived = await org.admin.post(`/controls/${org.name}/c/archive`, body);
    expect([archived.status, archived.json]).toEqual([200, { ...first, archived: true, version: 2 }]);
    expect((await org.reader.get(`/controls/${org.name}/c`)).json).toMatchObject(archived.json);
    const back = await org.admin.post(`/controls/${org.name}/c/unarchive`, body);
    expect([back.status, back.json]).toEqual([200, { ...first, version: 3 }]);
    expect((await org.reader.get(`/controls/${org.name}/c`)).json).toMatchObject(back.json);
  });

  it("is the same when repeated", async () => {
    const org = await app.org();
    await createControl(org, "c");
    const twice = async (what: string, version: number) => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => org.admin.post(`/controls/${org.name}/c/${what}`, null)),
      );
      for (const answer of answers) expect([answer.status, answer.json.version]).toEqual([200, version]);
    };
    await twice("unarchive", 1);
    await twice("archive", 2);
    await twice("archive", 2);
    await twice("unarchive", 3);
    expect(await versionsOf(org, "c")).toBe(3);
    expect(await auditedResources(org, app)).toEqual([
      "post_control control c",
      "archive_control control c",
      "unarchive_control control c",
    ]);
  });

  it("leaves a control open to edits, which do not bring it back", async () => {
    const org = await app.org();
    await createControl(org, "c");
    await org.admin.post(`/controls/${org.name}/c/archive`, null);
    const edited = await org.admin.put(`/controls/${org.name}/c`, { name: "N" });
    expect([edited.status, edited.json]).toMatchObject([200, { name: "N", archived: true, version: 3 }]);
  });
});

describe("an identifier that no control has", () => {
  it.each([
    ["GET", ""],
    ["PUT", ""],
    ["POST", "/archive"],
    ["POST", "/unarchive"],
    ["GET", "/versions"],
    ["GET", "/versions/1"],
    ["GET", "/versions/x"],
  ])("%s …%s answers 404", async (method, rest) => {
    const org = await app.org();
    await createControl(await app.org(), "foreign");
    await createControl(org, "Nope");
    for (const identifier of ["nope", "foreign", "a b", "a".repeat(1000)]) {
      const path = `/controls/${org.name}/${encodeURIComponent(identifier)}${rest}`;
      const answer = await org.admin.request(method, path, method === "PUT" ? { json: { name: "x" } } : {});
      expect([answer.status, answer.json]).toEqual(unknownControl(org, identifier));
    }
    expect(await auditedResources(org, app)).toEqual(["post_control control Nope"]);
  });
});

describe("roles", () => {
  const denied = [403, { message: "You don't have permission to access this resource" }];

  it("lets only admins write", async () => {
    const org = await app.org();
    const { json: first } = await createControl(org, "c");
    for (const client of [org.member, org.snapshotter, org.reader])
      for (const answer of [
        await client.post(`/controls/${org.name}`, { identifier: "d", name: "D" }),
        await client.put(`/controls/${org.name}/c`, { name: "D" }),
        await client.post(`/controls/${org.name}/c/archive`, null),
        await client.post(`/controls/${org.name}/c/unarchive`, null),
      ])
        expect([answer.status, answer.json]).toEqual(denied);
    expect((await org.admin.get(`/controls/${org.name}`)).json.controls).toEqual([first]);
  });

  it("lets every role read, and anybody in a public organization", async () => {
    const org = await app.org({ public: true });
    await createControl(org, "c");
    const { admin, member, snapshotter, reader } = org;
    for (const client of [admin, member, snapshotter, reader, app.anonymous])
      for (const path of ["", "/tags", "/c", "/c/versions", "/c/versions/1"])
        expect((await client.get(`/controls/${org.name}${path}`)).status).toBe(200);
  });
});

describe("the published schemas of control bodies", () => {
  it("ask for nothing that existing clients do not send", async () => {
    const { json } = await app.anonymous.get("/openapi.json");
    const { ControlPostInput, ControlPutInput } = json.components.schemas;
    expect(Object.keys(ControlPostInput.properties).toSorted()).toEqual([
      "description",
      "identifier",
      "links",
      "name",
    ]);
    expect(ControlPostInput.required.toSorted()).toEqual(["identifier", "name"]);
    expect(ControlPostInput.additionalProperties).toBe(false);
    expect(Object.keys(ControlPutInput.properties).toSorted()).toEqual(["description", "links", "name"]);
    expect(ControlPutInput.required ?? []).toEqual([]);
    expect(ControlPutInput.additionalProperties).toBe(false);
  });
});
