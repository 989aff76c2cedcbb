import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl } from "../support/controls.ts";
import { auditedResources } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const patch = (org: TestOrg, target: string, body: unknown) =>
  org.member.patch(`/tags/${org.name}/${target}`, body);

async function tagsOf(org: TestOrg, identifier: string): Promise<Record<string, string>> {
  return (await org.reader.get(`/controls/${org.name}/${identifier}`)).json.tags;
}

describe("PATCH /tags/{org}/control/{identifier}", () => {
  it.each(["control", "controls"])("sets, overwrites and removes, as %s", async (kind) => {
    const org = await app.org();
    await createControl(org, "CTL-7");
    const set = await patch(org, `${kind}/CTL-7`, { set_tags: { a: "1", b: "2" }, remove_tags: [] });
    expect([set.status, set.json]).toEqual([200, "OK"]);
    expect(await tagsOf(org, "CTL-7")).toEqual({ a: "1", b: "2" });
    const change = { set_tags: { a: "3" }, remove_tags: ["b", "absent"] };
    for (let round = 0; round < 2; round += 1)
      expect((await patch(org, `${kind}/CTL-7`, change)).status).toBe(200);
    expect(await tagsOf(org, "CTL-7")).toEqual({ a: "3" });
    const [listed] = (await org.reader.get(`/controls/${org.name}`)).json.controls;
    expect(listed.tags).toEqual({ a: "3" });
    expect(await auditedResources(org, app)).toEqual([
      "post_control control CTL-7",
      "patch_tags control CTL-7",
      "patch_tags control CTL-7",
    ]);
  });

  it("keeps tags through edits and archiving, and reaches archived controls", async () => {
    const org = await app.org();
    await createControl(org, "c");
    await createControl(org, "other");
    await patch(org, "control/c", { set_tags: { a: "b" } });
    const edited = await org.admin.put(`/controls/${org.name}/c`, { name: "N" });
    expect(edited.json.tags).toEqual({ a: "b" });
    const archived = await org.admin.post(`/controls/${org.name}/c/archive`, null);
    expect(archived.json.tags).toEqual({ a: "b" });
    expect((await patch(org, "control/c", { set_tags: { c: "d" } })).status).toBe(200);
    expect(await tagsOf(org, "c")).toEqual({ a: "b", c: "d" });
    expect(await tagsOf(org, "other")).toEqual({});
  });

  it("is 404 in quotes for an identifier that no control has", async () => {
    const org = await app.org();
    await createControl(await app.org(), "foreign");
    for (const identifier of ["no-such-control", "foreign"]) {
      const answer = await patch(org, `control/${identifier}`, { set_tags: { a: "b" } });
      expect([answer.status, answer.json]).toEqual([
        404,
        { message: `"Control '${identifier}' does not exist in organization '${org.name}'"` },
      ]);
    }
  });
});

describe("GET /controls/{org}/tags", () => {
  it("lists distinct pairs of all controls, sorted by key, then by value", async () => {
    const org = await app.org();
    for (const identifier of ["a", "b", "c"]) await createControl(org, identifier);
    await patch(org, "control/a", { set_tags: { team: "shop", tier: "1" } });
    await patch(org, "control/b", { set_tags: { team: "Shop", tier: "1", z: "" } });
    await patch(org, "control/c", { set_tags: { area: "é" } });
    await org.admin.post(`/controls/${org.name}/c/archive`, null);
    const answer = await org.reader.get(`/controls/${org.name}/tags`);
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        tag_choices: [
          { key: "area", value: "é" },
          { key: "team", value: "Shop" },
          { key: "team", value: "shop" },
          { key: "tier", value: "1" },
          { key: "z", value: "" },
        ],
        _links: { self: { href: `http://waybill.test/api/v2/controls/${org.name}/tags` } },
      },
    ]);
  });

  it("is empty without tags, and shows nothing of another organization", async () => {
    const [org, other] = [await app.org(), await app.org()];
    await createControl(org, "a");
    await createControl(other, "a");
    await patch(other, "control/a", { set_tags: { x: "y" } });
    expect((await org.reader.get(`/controls/${org.name}/tags`)).json.tag_choices).toEqual([]);
  });
});
