import { expect } from "vitest";

import type { TestOrg } from "./app.ts";
import type { Answer } from "./client.ts";

/** Creates a control; its name is its identifier unless the body says otherwise. */
export async function createControl(
  org: TestOrg,
  identifier: string,
  body: Record<string, unknown> = {},
): Promise<Answer> {
  const answer = await org.admin.post(`/controls/${org.name}`, { identifier, name: identifier, ...body });
  expect([answer.status, answer.json.message]).toEqual([201, undefined]);
  return answer;
}

/** The answer for an identifier that no control of the organization has. */
export function unknownControl(org: TestOrg, identifier: string): unknown[] {
  return [404, { message: `Control '${identifier}' does not exist in org '${org.name}'` }];
}
