import { JsonPieces } from "../../../../contract/endpoint.ts";
import type { policyPreviewEndpoints } from "../../../../contract/policy-preview.ts";
import type { Handlers } from "../../../kernel/call.ts";
import { policyFileRequired, readPolicyFile } from "../../rules/policies/policy-file.ts";
import { preview, type PreviewedEnvironment } from "./preview-service.ts";

/** Artifacts that are made into text at once: each may name hundreds of rules. */
const artifactsInPiece = 20;

/** Writes an answer as JSON, bit by bit: it has a sentence for each rule that each artifact would not have met. */
async function* showPreview(
  compliant: boolean,
  environments: readonly PreviewedEnvironment[],
): AsyncGenerator<string> {
  yield `{"compliant":${compliant},"environments":[`;
  for (const [at, { non_compliant_artifacts: failing, ...environment }] of environments.entries()) {
    yield `${at === 0 ? "" : ","}${JSON.stringify(environment).slice(0, -1)},"non_compliant_artifacts":[`;
    for (let from = 0; from < failing.length; from += artifactsInPiece) {
      const some = JSON.stringify(failing.slice(from, from + artifactsInPiece)).slice(1, -1);
      yield `${from === 0 ? "" : ","}${some}`;
    }
    yield "]}";
  }
  yield "]}";
}

export const policyPreviewHandlers: Handlers<typeof policyPreviewEndpoints> = {
  preview_policy: async (deps, { org, body, files }) => {
    if (files.policy_file === undefined) throw policyFileRequired();
    const { policy } = await readPolicyFile(org.id, files.policy_file);
    const environments = await preview(deps, org, { ...body, policy });
    const compliant = environments.every(({ snapshots }) =>
      snapshots.every(({ would_be_compliant }) => would_be_compliant),
    );
    return { status: 200, body: new JsonPieces(showPreview(compliant, environments)) };
  },
};
