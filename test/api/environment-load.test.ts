import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { transaction } from "../../src/db/transaction.ts";
import { environmentTypes } from "../../src/domain/environments.ts";
import { parseWireId } from "../../src/lib/ids.ts";
import {
  type LoadedEnvironment,
  loadEnvironments,
} from "../../src/modules/runtime/environments/load-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy } from "../support/policies.ts";
import { reportServer, type Running } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** The outer one first. */
const spaceNames = ["outer", "inner"];

/** Wire ids of an organization's spaces by name. */
type Spaces = ReadonlyMap<string, string>;
const physical = environmentTypes.filter((type) => type !== "logical");

/** Two spaces, one in the other. */
async function createSpaces(org: TestOrg): Promise<Spaces> {
  const ids = new Map<string, string>();
  for (const [index, name] of spaceNames.entries()) {
    const parent_id = ids.get(spaceNames[index - 1] ?? "") ?? null;
    const answer = await org.admin.post(`/spaces/${org.name}`, { name, parent_id });
    ids.set(name, answer.json.id);
  }
  return ids;
}

async function describeEnvironment(org: TestOrg, name: string, space_id: string | null): Promise<void> {
  const tags = await org.member.patch(`/tags/${org.name}/environment/${name}`, {
    set_tags: { "team.a": 'say "ä"', stage: name },
  });
  const moved = await org.member.patch(`/environments/${org.name}/${name}`, { space_id });
  expect([tags.status, moved.status]).toEqual([200, 200]);
}

/** Makes a logical environment. @returns the moment, as a loaded one would say it: the API takes one for each step. */
async function createGroup(org: TestOrg, name: string, included_environments: string[]): Promise<number> {
  await createEnvironment(org, name, { type: "logical", included_environments });
  return (await org.reader.get(`/environments/${org.name}/${name}`)).json.last_modified_at;
}

/** What loading takes of an environment that the API has made, with its place in the spaces of another organization. */
async function recordsOf(
  org: TestOrg,
  { spaces, groups }: { spaces: [Spaces, Spaces]; groups: Map<string, number> },
): Promise<LoadedEnvironment[]> {
  const { json } = await org.reader.get(`/environments/${org.name}`);
  const { rows } = await app.deps.db.pool.query<{ name: string; created_at: number; space: string | null }>(
    `select e.name, epoch(e.created_at) as created_at, wire_id(e.space_id) as space
     from environments e where e.org_id = $1`,
    [org.id],
  );
  const [here, there] = spaces;
  const spaceOf = (id: string | null): string | null => {
    const [name = ""] = [...here].find(([, each]) => each === id) ?? [];
    return parseWireId(there.get(name) ?? "") ?? null;
  };
  type Shown = LoadedEnvironment & { included_environments: string[] | null };
  return (json as Shown[]).map(({ included_environments, ...shown }) => {
    const { space, ...row } = rows.find(({ name }) => name === shown.name)!;
    const created_at = groups.get(shown.name) ?? row.created_at;
    const { name, type, description, tags, state, last_modified_at, last_reported_at, last_changed_at } =
      shown;
    const isLogical = type === "logical";
    return {
      name,
      type,
      description,
      tags,
      space_id: spaceOf(space),
      created_at,
      members: included_environments ?? [],
      // What follows from its members is left to be found out, for a logical one.
      last_modified_at: isLogical ? created_at : last_modified_at,
      ...(isLogical
        ? { state: null, last_reported_at: null, last_changed_at: null }
        : { state, last_reported_at, last_changed_at }),
    };
  });
}

async function load(org: TestOrg, records: readonly LoadedEnvironment[]): Promise<void> {
  await transaction(app.deps.db, (tx) => loadEnvironments(app.deps, tx, org.id, records));
}

/** An answer without what tells the organizations apart. */
async function answerOf(org: TestOrg, path: string): Promise<unknown> {
  const answer = await org.admin.get(path.replace("{org}", org.name));
  const text = answer.text
    .replaceAll(org.name, "ORG")
    // Attached to what was loaded afterwards.
    .replaceAll(/"policies":\[[^\]]*\]/g, '"policies":[]')
    // Of windows that end now.
    .replaceAll(/"(start|end)_ts":[\d.]+/g, '"$1_ts":0')
    .replaceAll(/"buckets":.*/g, (buckets) => buckets.replaceAll(/\d+\.\d+/g, "0"));
  return [answer.status, ...text.split(/(?=\{"org":)/)];
}

const expressions: Record<string, string> = { snapshot_expression: "-1", fingerprint: "ab".repeat(32) };

/** Everything that can be read about an environment by its name. */
const readsOfOne = Object.values(endpoints as Record<string, Endpoint>)
  .filter(({ method, path }) => method === "GET" && path.includes("{env_name}"))
  .map(({ path }) =>
    path.replace(/\{(?!org|env_name)(\w+)\}/g, (_whole, name: string) => expressions[name]!),
  );

const lists = [
  "",
  "page=1&per_page=3&sort=last_modified_at",
  "page=2&per_page=3&sort=last_changed_at&sort_direction=desc",
  "tag=stage",
  "tag=stage:at-s3&type=S3",
  "type=logical",
  "name=AT-",
  "stale=false",
  "archived=true",
].map((query) => `/environments/{org}?${query}`);

/** Compares everything that can be read of environments in both, lists within spaces included. */
async function expectAlike(
  one: TestOrg,
  other: TestOrg,
  { reads, spaces }: { reads: readonly string[]; spaces?: [Spaces, Spaces] },
): Promise<void> {
  const all: { name: string }[] = (await one.reader.get(`/environments/${one.name}`)).json;
  const paths = reads.flatMap((path) => all.map(({ name }) => path.replace("{env_name}", name)));
  for (const path of [...lists, ...paths]) {
    const [made, loaded] = await Promise.all([answerOf(one, path), answerOf(other, path)]);
    expect([path, loaded]).toEqual([path, made]);
  }
  for (const space of spaces === undefined ? [] : spaceNames) {
    const [here, there] = spaces!.map((ids) => `/environments/{org}?space_id=${ids.get(space)}`);
    expect(await answerOf(other, there!)).toEqual(await answerOf(one, here!));
  }
}

describe("environments that were loaded", () => {
  it("are like those the API makes in everything that can be read of them", async () => {
    const [one, other] = [await app.org(), await app.org()];
    const spaces: [Spaces, Spaces] = [await createSpaces(one), await createSpaces(other)];
    for (const type of physical) {
      await createEnvironment(one, `at-${type.toLowerCase()}`, { type, description: `For "${type}" – é\n` });
      const space = { K8S: "outer", S3: "inner" }[type as string];
      await describeEnvironment(one, `at-${type.toLowerCase()}`, spaces[0].get(space ?? "") ?? null);
    }
    // Not in the order of their names.
    const members = ["at-server", "at-k8s", "at-docker"];
    const groups = new Map([
      ["together", await createGroup(one, "together", members)],
      ["alone", await createGroup(one, "alone", [])],
    ]);
    await load(other, await recordsOf(one, { spaces, groups }));
    expect(readsOfOne.length).toBeGreaterThan(8);
    await expectAlike(one, other, { reads: readsOfOne, spaces });
  });

  it("have the verdicts and times of those that were reported on, and logical ones what follows from them", async () => {
    const [one, other] = [await app.org(), await app.org()];
    for (const name of ["bad", "good", "open", "never"])
      await createEnvironment(one, name, { type: "server" });
    await createPolicy(one, "known");
    for (const name of ["bad", "good"]) await attachPolicies(one, name, "known");
    // Before there is anything around it.
    await reportServer(one, "bad", ["web"]);
    const members = {
      "with-bad": ["good", "bad"],
      "only-good": ["good"],
      "with-open": ["open", "good"],
      "with-never": ["never", "good"],
      "only-never": ["never"],
      "only-bad": ["bad"],
      empty: [],
    };
    const groups = new Map<string, number>();
    for (const [name, included] of Object.entries(members))
      groups.set(name, await createGroup(one, name, included));
    const reports: [string, Running][] = [
      ["good", []],
      ["open", ["web"]],
      // Again, which changes nothing around it.
      ["open", ["web"]],
    ];
    for (const [name, running] of reports)
      expect([200, 201]).toContain((await reportServer(one, name, running)).status);
    await load(other, await recordsOf(one, { spaces: [new Map(), new Map()], groups }));
    await expectAlike(one, other, { reads: ["/environments/{org}/{env_name}"] });
  });
});
