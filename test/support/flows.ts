import type { Answer, Client, Parts } from "./client.ts";

/** A template with one attestation of the trail and one artifact. */
export const sampleTemplate = `# a comment that stays
version: 1
trail:
  attestations:
    - name: bar
      type: junit
  artifacts:
    - name: cli
      attestations:
        - name: foo
          type: generic
`;

function templateParts(data: unknown, template: string | Buffer | undefined): Parts {
  return {
    data_json: JSON.stringify(data),
    ...(template === undefined ? {} : { template_file: { filename: "template.yml", content: template } }),
  };
}

/** Creates or updates a flow the way clients do. */
export function putFlow(
  client: Client,
  org: string,
  data: Record<string, unknown>,
  template?: string | Buffer,
): Promise<Answer> {
  const parts = templateParts({ description: "", ...data }, template);
  return client.request("PUT", `/flows/${org}/template_file`, { parts });
}

/** Begins or updates a trail the way clients do. */
export function putTrail(
  client: Client,
  path: string,
  data: Record<string, unknown>,
  template?: string | Buffer,
): Promise<Answer> {
  return client.request("PUT", `/trails/${path}`, { parts: templateParts(data, template) });
}
