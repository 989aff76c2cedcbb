import { expect } from "vitest";

import type { Client } from "./client.ts";
import type { TestApp, TestOrg } from "./app.ts";

/** Creates an environment, as a pipeline would. */
export async function createEnvironment(
  org: TestOrg,
  name: string,
  body: Record<string, unknown> = {},
): Promise<void> {
  const answer = await org.snapshotter.put(`/environments/${org.name}`, {
    name,
    type: "K8S",
    description: "",
    ...body,
  });
  expect([answer.status, answer.text]).toEqual([201, '"OK"']);
}

/** Names in a bare or paged list. */
export async function listedNames(client: Client, org: TestOrg, query = ""): Promise<string[]> {
  const answer = await client.get(`/environments/${org.name}${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  const rows: { name: string }[] = Array.isArray(answer.json) ? answer.json : answer.json.environments;
  return rows.map(({ name }) => name);
}

/** What the audit log has, in order: operation, kind of resource, resource. */
export async function auditedResources(org: TestOrg, app: TestApp): Promise<string[]> {
  const { rows } = await app.deps.db.pool.query<{ entry: string }>(
    "select action || ' ' || resource_type || ' ' || resource as entry from audit_log where org_id = $1 order by seq",
    [org.id],
  );
  return rows.map(({ entry }) => entry);
}
