import { type ExportedList, given } from "../../api/export.ts";
import { time } from "../../domain/csv.ts";
import type { AttestationType } from "./queries.ts";

/** Exports the types that are shown; as JSON with all their versions. */
export function typesExport(org: string, types: readonly AttestationType[]): ExportedList {
  return {
    file: `${org}-attestation-types`,
    columns: ["name", "description", "versions.version", "archived", "created_by", time("created_at")],
    batches: given(types),
  };
}
