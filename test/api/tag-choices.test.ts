import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl } from "../support/controls.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function choices(org: TestOrg, kind = "environment", search?: string) {
  const query = search === undefined ? "" : `?search=${encodeURIComponent(search)}`;
  const { status, json } = await org.reader.get(`/tags/${org.name}/${kind}${query}`);
  expect([status, json.message]).toEqual([200, undefined]);
  return json;
}

async function tag(
  org: TestOrg,
  target: string,
  set_tags: Record<string, string>,
  remove_tags: string[] = [],
) {
  const answer = await org.member.patch(`/tags/${org.name}/${target}`, { set_tags, remove_tags });
  expect(answer.status).toBe(200);
}

describe("GET /tags/{org}/{resource_type}", () => {
  it("lists keys and values in order, each once, of live resources of that kind", async () => {
    const org = await app.org();
    for (const name of ["a", "b", "c"]) await createEnvironment(org, name);
    await tag(org, "environment/a", { team: "web", tier: "1" });
    await tag(org, "environment/b", { team: "web", stage: "prod" });
    await tag(org, "environment/c", { team: "db" });
    await putFlow(org.member, org.name, { name: "f" });
    await tag(org, "flow/f", { lang: "go" });
    await createControl(org, "c-1");
    await tag(org, "control/c-1", { law: "x" });
    const key = (name: string, ...values: string[]) => ({ key: name, values, truncated: false });
    const all = [key("stage", "prod"), key("team", "db", "web"), key("tier", "1")];
    expect(await choices(org)).toEqual({ tags: all, truncated: false });
    expect(await choices(org, "env")).toEqual({ tags: all, truncated: false });
    expect((await choices(org, "flows")).tags).toEqual([key("lang", "go")]);
    expect((await choices(org, "controls")).tags).toEqual([key("law", "x")]);
    expect((await choices(org, "repo")).tags).toEqual([]);

    await tag(org, "environment/b", { team: "ops" }, ["stage"]);
    expect((await choices(org)).tags).toEqual([key("team", "db", "ops", "web"), key("tier", "1")]);
    await org.member.put(`/environments/${org.name}/c/archive`);
    expect((await choices(org)).tags).toEqual([key("team", "ops", "web"), key("tier", "1")]);
  });

  it("searches by the beginning of a key, or of a value of a key", async () => {
    const org = await app.org();
    for (const name of ["a", "b"]) await createEnvironment(org, name);
    await tag(org, "environment/a", { team: "web", teammate: "x", Team: "y" });
    await tag(org, "environment/b", { team: "west:1" });
    const found = async (search: string) =>
      (await choices(org, "environment", search)).tags.map(
        ({ key, values }: { key: string; values: string[] }) => `${key}=${values.join("|")}`,
      );
    expect(await found("team")).toEqual(["team=web|west:1", "teammate=x"]);
    expect(await found("team:")).toEqual(["team=web|west:1"]);
    expect(await found("team:wes")).toEqual(["team=west:1"]);
    expect(await found("team:west:")).toEqual(["team=west:1"]);
    expect(await found("tea%")).toEqual([]);
    expect(await found("")).toHaveLength(3);
  });

  it("says when there are more keys, more values, or values too long to choose", async () => {
    const org = await app.org();
    await createEnvironment(org, "long");
    await tag(org, "environment/long", { text: "x".repeat(257), short: "x".repeat(256) });
    const { tags } = await choices(org);
    expect(tags).toEqual([
      { key: "short", values: ["x".repeat(256)], truncated: false },
      { key: "text", values: [], truncated: true },
    ]);
    for (let at = 0; at < 101; at += 1) {
      await createEnvironment(org, `v${at}`);
      await tag(org, `environment/v${at}`, {
        many: `${1000 + at}`,
        [`k${1000 + at}`]: "",
        [`l${1000 + at}`]: "",
      });
    }
    const [many] = (await choices(org, "environment", "many:")).tags;
    expect([many.values.length, many.values.at(-1), many.truncated]).toEqual([100, "1099", true]);
    const all = await choices(org);
    expect([all.tags.length, all.truncated]).toEqual([200, true]);
    expect((await choices(org, "environment", "k")).truncated).toBe(false);
  }, 60_000);

  it("has what resources have, whatever is set and removed", async () => {
    const org = await app.org();
    const names = ["a", "b", "c"];
    for (const name of names) await createEnvironment(org, name);
    const tags = fc.dictionary(
      fc.constantFrom("k", "kk", "K"),
      fc.constantFrom("", "x", "ü", "y".repeat(300)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        tags,
        fc.subarray(["k", "kk", "K"]),
        async (name, set, remove) => {
          await tag(org, `environment/${name}`, set, remove);
          const { json } = await org.reader.get(`/environments/${org.name}`);
          const expected = new Map<string, Set<string>>();
          for (const one of json as { tags: Record<string, string> }[])
            for (const [key, value] of Object.entries(one.tags))
              expected.set(key, (expected.get(key) ?? new Set()).add(value));
          const found = (await choices(org)).tags as { key: string; values: string[]; truncated: boolean }[];
          expect(found).toEqual(
            [...expected]
              .toSorted(([left], [right]) => (left < right ? -1 : 1))
              .map(([key, values]) => ({
                key,
                values: [...values].filter((value) => value.length <= 256).toSorted(),
                truncated: [...values].some((value) => value.length > 256),
              })),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it("refuses kinds that carry no tags, and strangers", async () => {
    const [org, other] = [await app.org(), await app.org()];
    const { status, json } = await org.reader.get(`/tags/${org.name}/widget`);
    expect([status, json.message]).toEqual([
      400,
      expect.stringContaining("Resource type 'widget' is not one of: env,"),
    ]);
    expect((await other.admin.get(`/tags/${org.name}/environment`)).status).toBe(403);
    await createEnvironment(org, "mine");
    await tag(org, "environment/mine", { secret: "x" });
    expect(await choices(other)).toEqual({ tags: [], truncated: false });
  });
});
