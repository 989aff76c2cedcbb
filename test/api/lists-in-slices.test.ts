import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

type Json = Answer["json"];

/** More than are read at a time. */
const many = 430;

async function each(work: (at: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < many; from += 20)
    await Promise.all(Array.from({ length: Math.min(20, many - from) }, (_, at) => work(from + at)));
}

const name = (at: number): string => `n-${String(at).padStart(4, "0")}`;
const names = Array.from({ length: many }, (_, at) => name(at));

/** All of a list, which has to be what its pages are together. */
async function whole(path: string, itemsOf: (page: Json) => Json[], perPage: number): Promise<Json[]> {
  const all = (await org.reader.get(path)).json;
  const paged: Json[] = [];
  for (let page = 1; page <= Math.ceil(all.length / perPage); page += 1) {
    const separator = path.includes("?") ? "&" : "?";
    paged.push(
      ...itemsOf((await org.reader.get(`${path}${separator}page=${page}&per_page=${perPage}`)).json),
    );
  }
  expect(all).toEqual(paged);
  return all;
}

it("shows all environments in order, logical ones too", async () => {
  await each((at) => createEnvironment(org, name(at), { type: at % 2 === 0 ? "server" : "K8S" }));
  await createEnvironment(org, "all", { type: "logical", included_environments: names.slice(0, 3) });
  const path = `/environments/${org.name}`;
  const found = await whole(path, ({ environments }) => environments, 50);
  expect(found.map((one) => one.name)).toEqual(["all", ...names]);
  expect(found[0].included_environments).toEqual(names.slice(0, 3));
  const servers = await whole(
    `${path}?type=server&sort=name&sort_direction=desc`,
    ({ environments }) => environments,
    50,
  );
  expect(servers).toHaveLength(many / 2);
  expect((await org.reader.get(`${path}?tag=nobody-has-it`)).json).toEqual([]);
}, 60_000);

it("shows all flows and trails in order, with templates of any size", async () => {
  await each((at) => putFlow(org.member, org.name, { name: name(at), description: "d".repeat(at % 7) }));
  const flows = await whole(`/flows/${org.name}`, ({ data }) => data, 100);
  expect(flows.map((one) => one.name)).toEqual(names);
  const byActivity = `/flows/${org.name}?sort=latest_activity&sort_direction=desc`;
  await each((at) => putTrail(org.member, `${org.name}/${name(0)}`, { name: name(at) }));
  expect((await whole(byActivity, ({ data }) => data, 100))[0].name).toBe(name(0));
  const trails = await whole(`/trails/${org.name}/${name(0)}`, ({ data }) => data, 100);
  expect(new Set(trails.map((one) => one.name))).toEqual(new Set(names));
}, 60_000);

it("shows a policy with more text than is read at a time whole, alone and among others", async () => {
  const comment = `# ${"long ".repeat(12_000)}`;
  for (const policy of ["a", "b", "c", "d"]) await createPolicy(org, policy);
  const texts = Array.from(
    { length: 6 },
    (_, at) => `${comment}${at}\n${policyText("provenance:", "  required: true")}`,
  );
  for (const text of texts)
    expect((await putPolicy(org.member, org.name, { name: "b" }, text)).status).toBe(200);
  await createEnvironment(org, "judged");
  await attachPolicies(org, "judged", "b");
  const all = (await org.reader.get(`/policies/${org.name}`)).json;
  expect(all.map((one: Json) => one.name)).toEqual(["a", "b", "c", "d"]);
  const versions = all[1].versions.map((one: Json) => [one.version, one.policy_yaml.length]);
  expect(versions.slice(1)).toEqual(texts.map((text, at) => [at + 2, text.length]));
  const newVersions = all[1].events.filter((one: Json) => one.type === "new_version");
  expect([newVersions.length, all[1].consuming_envs]).toEqual([texts.length, ["judged"]]);
  expect(Object.keys(all[1])).toEqual(Object.keys(all[0]));
  for (const policy of all)
    expect((await org.reader.get(`/policies/${org.name}/${policy.name}`)).json).toEqual(policy);
});
