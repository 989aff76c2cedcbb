import { attestationTypeEndpoints } from "../../src/contract/attestation-types.ts";
import { attestationTypes } from "../data/attestation-types.ts";
import type { Demo } from "../plan.ts";

/** Defines the company's own kinds of evidence. */
export function createAttestationTypes({ api, org, progress }: Demo): Promise<void> {
  return progress.step("Attestation types", attestationTypes.length, async (advance) => {
    for (const { name, description, schema, rules, summary } of attestationTypes) {
      await api.call(attestationTypeEndpoints.post_custom_attestation_type, {
        params: { org },
        body: {
          name,
          description,
          evaluator: { content_type: "jq", rules: [...rules] },
          summary: [...summary],
        },
        files: { type_schema: { filename: `${name}.json`, text: JSON.stringify(schema) } },
      });
      advance();
    }
  });
}
