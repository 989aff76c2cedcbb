import { type AppError, invalid, invalidInput, type InputErrors } from "../../../domain/errors.ts";
import { findAttestationType, judgeCustomData, noSuchType } from "../attestation-types/service.ts";
import type { Org } from "../../../domain/principal.ts";
import type { ExactJson } from "../../../lib/exact-json.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { KindOfAttestation } from "./new-attestation.ts";

/** Makes the error for data that do not fit a schema: a failed validation that names each place. */
function misfit(problems: readonly { path: string; reason: string }[]): AppError {
  const errors: InputErrors = Object.create(null) as InputErrors;
  for (const { path, reason } of problems) errors[`attestation_data${path}`] ??= reason;
  return invalidInput(errors);
}

/**
 * Judges data by a custom type: its latest version, or the one named (contract flows 8.4).
 * @throws AppError not_found for an unknown type, invalid for an archived one and for data that do not fit its schema.
 */
export async function judgeCustom(
  deps: Deps,
  org: Org,
  { type_name, attestation_data }: { type_name: string; attestation_data: ExactJson },
): Promise<KindOfAttestation> {
  const type = await findAttestationType(deps.db, org.id, type_name);
  if (type === undefined) throw noSuchType(type_name, org.name);
  if (type.archived) throw invalid(`Custom attestation type '${type.name}' is archived`);
  const { is_compliant, schema_errors, rule_results } = await judgeCustomData(deps, type, attestation_data);
  if (schema_errors !== undefined && schema_errors.length > 0) throw misfit(schema_errors);
  return {
    type: `custom:${type.name}`,
    is_compliant,
    type_data: { attestation_data, type_version: type.version, rule_results },
  };
}
