import { expect } from "vitest";

import type { TestApp, TestOrg } from "./app.ts";
import { artifactBody, fingerprintOf, repoInfo } from "./artifacts.ts";
import type { Answer } from "./client.ts";
import { createEnvironment } from "./environments.ts";
import { reportServer } from "./snapshots.ts";

/** Reports that a pipeline built an artifact from a repo; from none without. */
export async function build(
  org: TestOrg,
  name: string,
  repo?: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  const body = artifactBody({
    fingerprint: fingerprintOf(name),
    filename: name,
    trail_name: name,
    ...(repo === undefined ? {} : { repo_info: repoInfo(repo) }),
    ...more,
  });
  expect((await org.member.post(`/artifacts/${org.name}/ci`, body)).status).toBe(201);
}

/** Reports what runs in an environment from now on. */
export async function run(org: TestOrg, environment: string, names: string[]): Promise<void> {
  expect((await reportServer(org, environment, names)).status).toBeLessThan(300);
}

/** What a reader is answered. */
export async function read(org: TestOrg, path: string): Promise<Answer["json"]> {
  const answer = await org.reader.get(path);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

/** `artifact>environment` of each deployment on a page. */
export async function list(org: TestOrg, path: string): Promise<string[]> {
  const { deployments } = await read(org, path);
  return deployments.map(
    (each: { artifact_name: string; environment_name: string }) =>
      `${each.artifact_name}>${each.environment_name}`,
  );
}

/** The id of the only repo of this name. */
export async function repoId(org: TestOrg, name: string): Promise<string> {
  return (await read(org, `/repos/${org.name}/${name}`)).id;
}

/** An organization with servers. */
export async function orgWith(app: TestApp, ...environments: string[]): Promise<TestOrg> {
  const org = await app.org();
  for (const name of environments) await createEnvironment(org, name, { type: "server" });
  return org;
}
