import { expect } from "vitest";

import type { TestOrg } from "./app.ts";
import { artifactBody, fingerprintOf } from "./artifacts.ts";
import { attest } from "./attestations.ts";
import type { Answer } from "./client.ts";

/** Asks for an attestation of the trail, and for an artifact with two. */
export const artifactTemplate = `version: 1
trail:
  attestations:
    - {name: ticket, type: generic}
  artifacts:
    - name: cli
      attestations:
        - {name: foo, type: generic}
        - {name: bar, type: '*'}
`;

/** Reports an artifact `cli` on the trail `run`. */
export async function report(
  org: TestOrg,
  more: Record<string, unknown> = {},
  flow = "web-ci",
): Promise<void> {
  const body = artifactBody({ trail_name: "run", template_reference_name: "cli", ...more });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
}

/** Attests on the trail `run`, compliantly unless told otherwise. */
export async function vouch(
  org: TestOrg,
  body: Record<string, unknown>,
  kind = "generic",
  trail = "run",
): Promise<void> {
  const verdict = kind === "generic" ? { is_compliant: true } : {};
  const answer = await attest(org.member, { org: org.name, trail }, kind, { ...verdict, ...body });
  expect(answer.status, answer.text).toBe(kind === "override" ? 200 : 201);
}

/** Reads the artifact whose fingerprint stands for a text. */
export function one(org: TestOrg, text: string, query = "", flow = "web-ci"): Promise<Answer> {
  return org.reader.get(`/artifacts/${org.name}/${flow}/fingerprint/${fingerprintOf(text)}${query}`);
}
