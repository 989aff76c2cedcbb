import { jsonb, jsonbOrNull, moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** An attestation as it is stored. Whatever is bound to a fingerprint names its artifact in `target_artifacts`. */
export interface NewAttestation {
  id: string;
  flow_id: string;
  trail_id: string;
  name: string;
  /** As reads show it: `generic`, `sonar`, `custom:<name>`, … */
  type: string;
  is_compliant: boolean;
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
  created_at: Timestamp;
  created_by_name: string;
}

/** Inserts an attestation. Its trail must exist, and its artifact, if any, must be on the trail. */
export async function insertAttestation(tx: Tx, orgId: string, attestation: NewAttestation): Promise<void> {
  const { git_commit_info, external_urls, annotations, user_data, type_data, created_at, ...rest } =
    attestation;
  await tx
    .insertInto("attestations")
    .values({
      ...rest,
      org_id: orgId,
      git_commit: git_commit_info?.sha1 ?? null,
      git_commit_info: jsonbOrNull(git_commit_info),
      external_urls: jsonbOrNull(external_urls),
      annotations: jsonbOrNull(annotations),
      user_data: jsonbOrNull(user_data),
      type_data: jsonb(type_data),
      created_at: moment(created_at),
    })
    .execute();
}

/** The template name under which a trail last reported an artifact; undefined when it never did. */
export async function findArtifactName(
  db: Executor,
  orgId: string,
  artifact: { trail_id: string; fingerprint: string },
): Promise<string | undefined> {
  const row = await db
    .selectFrom("artifacts")
    .select("template_reference_name")
    .where("org_id", "=", orgId)
    .where("trail_id", "=", artifact.trail_id)
    .where("fingerprint", "=", artifact.fingerprint)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.template_reference_name;
}
