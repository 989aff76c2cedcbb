import { expect } from "vitest";

import type { TestOrg } from "./app.ts";
import type { Answer, Client } from "./client.ts";

/** Where attestations go: `<organization>/<flow>`, and the trail. */
export interface Place {
  org: string;
  flow?: string;
  trail?: string;
}

const defaultPlace = { flow: "web-ci", trail: "run" };

/** Reports an attestation the way clients do: JSON in a form field, or as the body of an override. */
export function attest(
  client: Client,
  place: Place,
  kind: string,
  body: Record<string, unknown>,
): Promise<Answer> {
  const { org, flow, trail } = { ...defaultPlace, ...place };
  const path = `/attestations/${org}/${flow}/trail/${trail}/${kind}`;
  const data = { user_data: {}, ...body };
  return kind === "override"
    ? client.post(path, data)
    : client.request("POST", path, { parts: { data_json: JSON.stringify(data) } });
}

/** A commit as clients send it. */
export function commitInfo(sha1: string): Record<string, unknown> {
  return {
    sha1,
    message: "rework",
    author: "Ann Lee <ann@acme.test>",
    timestamp: 1_786_000_000,
    branch: "main",
  };
}

/** As much as tests read of an attestation that is shown. */
export interface Shown {
  attestation_id: string;
  attestation_name: string;
  created_at: number;
  [key: string]: unknown;
}

/** Reports an attestation on trail `run` of a flow, which has to go well. */
export async function reported(
  org: TestOrg,
  name: string,
  more: Record<string, unknown> = {},
  at: { flow?: string; kind?: string } = {},
): Promise<void> {
  const { flow = "ci", kind = "generic" } = at;
  const own = kind === "generic" ? { is_compliant: true } : {};
  const body = { attestation_name: name, ...own, ...more };
  const answer = await attest(org.member, { org: org.name, flow, trail: "run" }, kind, body);
  expect([answer.status, answer.json]).toEqual([201, "OK"]);
}

/** Reports to a trail of the flow `web` that a check of this name passed. */
export async function attestPassed(org: TestOrg, trail: string, attestation_name: string): Promise<void> {
  const place = { org: org.name, flow: "web", trail };
  const { status } = await attest(org.member, place, "generic", { attestation_name, is_compliant: true });
  expect(status).toBe(201);
}
