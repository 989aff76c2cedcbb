import { expect } from "vitest";

import type { TestOrg } from "./app.ts";
import type { Answer, Client } from "./client.ts";

/** A policy that asks for provenance, with a comment that stays. */
export const samplePolicy = `# who made this?
_schema: https://kosli.com/schemas/policy/environment/v1
artifacts:
  provenance:
    required: true
`;

/** A policy with these lines under `artifacts`. */
export function policyText(...lines: string[]): string {
  return [
    "_schema: https://waybill.test/schemas/policy/v1",
    "artifacts:",
    ...lines.map((line) => `  ${line}`),
    "",
  ].join("\n");
}

/** Creates or updates a policy the way clients do. */
export function putPolicy(
  client: Client,
  org: string,
  payload: unknown,
  text?: string | Buffer,
): Promise<Answer> {
  const parts = {
    payload: JSON.stringify(payload),
    ...(text === undefined ? {} : { policy_file: { filename: "policy.yaml", content: text } }),
  };
  return client.request("PUT", `/policies/${org}`, { parts });
}

/** Creates a policy. */
export async function createPolicy(org: TestOrg, name: string, text = samplePolicy): Promise<void> {
  const answer = await putPolicy(org.member, org.name, { name }, text);
  expect([answer.status, answer.json.message]).toEqual([201, undefined]);
}

/** Attaches policies to an environment. */
export async function attachPolicies(
  org: TestOrg,
  environment: string,
  ...policy_names: string[]
): Promise<void> {
  const answer = await org.member.post(`/environments/${org.name}/${environment}/policies`, { policy_names });
  expect([answer.status, answer.text]).toEqual([200, '"OK"']);
}
