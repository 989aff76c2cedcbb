import type { Answer, Client } from "./client.ts";

/** Where attestations go: `<organization>/<flow>`, and the trail. */
export interface Place {
  org: string;
  flow?: string;
  trail?: string;
}

export const defaultPlace = { flow: "web-ci", trail: "run" };

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
