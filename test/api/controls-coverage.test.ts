import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl, unknownControl } from "../support/controls.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function asking(...controls: string[]): string {
  return policyText(
    "attestations:",
    ...controls.map((control) => `  - {type: decision, for_control: ${control}}`),
  );
}

/** Five live environments, two of which ask for decisions on C-1, and an archived one that does. */
async function withCoverage(): Promise<TestOrg> {
  const org = await app.org();
  for (const control of ["C-1", "C-2"]) await createControl(org, control);
  await createPolicy(org, "one", asking("C-1"));
  await createPolicy(org, "both", asking("C-1", "C-2"));
  await createPolicy(org, "none", policyText("attestations: [{type: decision}]"));
  for (const name of ["a", "b-Prod", "c", "gone"]) await createEnvironment(org, name);
  await createEnvironment(org, "all", { type: "logical", included_environments: ["c"] });
  await createEnvironment(org, "d-prod", { type: "ECS" });
  await attachPolicies(org, "a", "none");
  await attachPolicies(org, "b-Prod", "one", "both", "none");
  await attachPolicies(org, "all", "one");
  await attachPolicies(org, "gone", "one");
  await org.admin.put(`/environments/${org.name}/gone/archive`);
  return org;
}

async function coverage(org: TestOrg, query = "", control = "C-1") {
  const { status, json } = await org.reader.get(`/controls/${org.name}/${control}/coverage${query}`);
  expect([status, json.message]).toEqual([200, undefined]);
  return json;
}

async function names(org: TestOrg, query: string, control?: string): Promise<string[]> {
  return (await coverage(org, query, control)).environments.map(({ name }: { name: string }) => name);
}

describe("GET /controls/{org}/{identifier}/coverage", () => {
  it("tells which environments ask for decisions on it, and by which policies", async () => {
    const org = await withCoverage();
    const json = await coverage(org);
    expect(json).toMatchObject({ page: 1, per_page: 15, total_pages: 1, total_count: 5 });
    expect(json).toMatchObject({ total: 5, covered: 2, coverage_percent: 40 });
    expect(json.environments).toEqual([
      { name: "a", type: "K8S", covered: false, policies: [] },
      { name: "all", type: "logical", covered: true, policies: ["one"] },
      { name: "b-Prod", type: "K8S", covered: true, policies: ["both", "one"] },
      { name: "c", type: "K8S", covered: false, policies: [] },
      { name: "d-prod", type: "ECS", covered: false, policies: [] },
    ]);
    expect(await coverage(org, "", "C-2")).toMatchObject({ total: 5, covered: 1, coverage_percent: 20 });
  });

  it("filters and pages, and counts everything in its figures", async () => {
    const org = await withCoverage();
    expect(await names(org, "?covered=true")).toEqual(["all", "b-Prod"]);
    expect(await names(org, "?covered=false")).toEqual(["a", "c", "d-prod"]);
    expect(await names(org, "?search=PROD")).toEqual(["b-Prod", "d-prod"]);
    expect(await names(org, "?search=")).toHaveLength(5);
    expect(await names(org, "?search=prod&covered=true")).toEqual(["b-Prod"]);
    expect(await names(org, "?per_page=2&page=2")).toEqual(["b-Prod", "c"]);
    expect(await names(org, "?per_page=2&page=4")).toEqual([]);
    const page = await coverage(org, "?covered=false&per_page=2");
    expect(page).toMatchObject({ total: 5, covered: 2, total_count: 3, total_pages: 2 });
    expect(page._links.next.href).toContain("covered=false&per_page=2");
  });

  it("follows new versions and detachments", async () => {
    const org = await withCoverage();
    await putPolicy(org.member, org.name, { name: "one" }, asking("C-2"));
    expect(await names(org, "?covered=true")).toEqual(["b-Prod"]);
    expect(await names(org, "?covered=true", "C-2")).toEqual(["all", "b-Prod"]);
    await org.member.delete(`/environments/${org.name}/b-Prod/policies`, { policy_names: ["both"] });
    expect(await coverage(org)).toMatchObject({ covered: 0, coverage_percent: 0 });
  });

  it("rounds to one decimal, and is 0 without environments", async () => {
    const org = await app.org();
    await createControl(org, "C-1");
    expect(await coverage(org)).toMatchObject({
      total: 0,
      covered: 0,
      coverage_percent: 0,
      environments: [],
    });
    await createPolicy(org, "p", asking("C-1"));
    for (const name of ["a", "b", "c"]) await createEnvironment(org, name);
    await attachPolicies(org, "a", "p");
    expect((await coverage(org)).coverage_percent).toBe(33.3);
  });

  it.each(["per_page=101", "per_page=0", "page=0", "covered=maybe"])("refuses %s", async (query) => {
    const org = await app.org();
    await createControl(org, "C-1");
    expect((await org.reader.get(`/controls/${org.name}/C-1/coverage?${query}`)).status).toBe(400);
  });

  it("answers 404 for an unknown control", async () => {
    const org = await app.org();
    const { status, json } = await org.reader.get(`/controls/${org.name}/C-9/coverage`);
    expect([status, json]).toEqual(unknownControl(org, "C-9"));
  });
});

describe("policies_referencing", () => {
  it("names the policies whose latest version names the control", async () => {
    const org = await withCoverage();
    const read = async (control: string): Promise<string[]> =>
      (await org.reader.get(`/controls/${org.name}/${control}`)).json.policies_referencing;
    expect([await read("C-1"), await read("C-2")]).toEqual([["both", "one"], ["both"]]);
    await putPolicy(org.member, org.name, { name: "both" }, asking("C-2"));
    expect([await read("C-1"), await read("C-2")]).toEqual([["one"], ["both"]]);
  });
});
