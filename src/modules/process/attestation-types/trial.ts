import type { TypeDefinition } from "../../../domain/attestation-types/definition.ts";
import type { RuleResult, SummaryRow } from "../../../domain/attestation-types/programs.ts";
import type { ExactJson } from "../../../lib/exact-json.ts";
import type { Deps } from "../../kernel/deps.ts";
import { checkDefinition } from "./check.ts";
import { judgeCustomData, summarize } from "./evaluation.ts";

/** What a definition would make of data. */
export interface Trial {
  is_compliant: boolean;
  schema_errors: { path: string; message: string }[];
  rule_results: RuleResult[];
  summary: { groups: SummaryRow[][]; incomplete: string | null };
}

/** Where the parts of a definition stand when it is tried. */
const locations = { schema: "schema", rules: "rules" };

/**
 * Judges data by a definition that need not be stored, and works out its summary, in the sandbox in which attestations are
 * judged: three jobs, one after the other. Changes nothing.
 * @throws AppError invalid for a schema, rule or expression that cannot be used and for data larger than 10 MB, unavailable
 * when too much is waiting.
 */
export async function tryDefinition(
  deps: Pick<Deps, "sandbox">,
  orgId: string,
  definition: TypeDefinition,
  data: ExactJson,
): Promise<Trial> {
  await checkDefinition(deps.sandbox, orgId, definition, locations);
  const type = { ...definition, org_id: orgId };
  const { is_compliant, schema_errors = [], rule_results } = await judgeCustomData(deps, type, data);
  const { groups, incomplete } = await summarize(deps, type, data);
  return {
    is_compliant,
    schema_errors: schema_errors.map(({ path, reason }) => ({ path, message: reason })),
    rule_results,
    summary: { groups, incomplete: incomplete ?? null },
  };
}
