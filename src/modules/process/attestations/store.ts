import type { Tx } from "../../../db/connect.ts";
import { type RowOf, text, uuid } from "../../../db/row.ts";
import { command, query } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { writeJson } from "../../../lib/exact-json.ts";

/** An attestation as it is stored. Whatever is bound to a fingerprint names its artifact in `target_artifacts`. */
export interface NewAttestation {
  id: string;
  flow_id: string;
  trail_id: string;
  name: string;
  /** As reads show it: `generic`, `sonar`, `custom:<name>`, … An override has the type it overrides. */
  type: string;
  is_compliant: boolean;
  is_override: boolean;
  artifact_fingerprint: string | null;
  target_artifacts: string[] | null;
  git_commit_info: { sha1: string } | null;
  repo_id: string | null;
  description: string | null;
  origin_url: string | null;
  external_urls: unknown;
  annotations: unknown;
  user_data: unknown;
  /** What is particular to the type, under the key that reads show it by. */
  type_data: Record<string, unknown>;
  /** The control that a decision is about; it need not exist. */
  control_identifier: string | null;
  /** The file that came with it. */
  evidence_id: string | null;
  created_at: Timestamp;
  created_by_name: string;
}

/**
 * Inserts attestations in one statement; decisions keep the version that their control has now. Their trails must exist
 * and be locked, and their artifacts, if any, must be on the trails. Keeps the heads that trails are judged by
 * (`migrations/0060`).
 */
export function insertAttestations(tx: Tx, orgId: string, attestations: readonly NewAttestation[]): void {
  tx.send(command("insert-attestations")`
    select store_attestations(${orgId}, ${writeJson(attestations)}::json)`);
}

const namedArtifact = { trail_id: uuid, fingerprint: text, name: text };

/**
 * Lists the template names under which trails last reported artifacts, in one statement. Those never reported are left
 * out.
 */
export function listArtifactNames(
  tx: Tx,
  orgId: string,
  artifacts: readonly { trail_id: string; fingerprint: string }[],
): Promise<RowOf<typeof namedArtifact>[]> {
  return tx.all(query("attested-artifacts", namedArtifact)`
    select asked.trail_id, asked.fingerprint, a.name
    from unnest((select ${artifacts.map((one) => one.trail_id)}::uuid[]), (select ${artifacts.map((one) => one.fingerprint)}::text[]))
      as asked (trail_id, fingerprint)
    cross join lateral (
      select a.template_reference_name as name from artifacts a
      where a.org_id = ${orgId} and a.trail_id = asked.trail_id and a.fingerprint = asked.fingerprint
      order by a.id desc limit 1) a`);
}
