import type { Tx } from "../../db/connect.ts";
import { notFound } from "../../domain/errors.ts";
import type { Deps } from "../deps.ts";
import { findArtifactName, insertAttestation, type NewAttestation } from "./store.ts";

/** The trail an attestation goes to, with the names its errors speak of. */
export interface AttestedTrail {
  org: { id: string; name: string };
  flow: { id: string; name: string };
  trail: { id: string; name: string };
}

/** What any kind of attestation says. Whatever is left out was not reported. */
export interface AttestationInput extends Pick<
  NewAttestation,
  "name" | "type" | "is_compliant" | "type_data"
> {
  reported_by: string;
  artifact_fingerprint?: string | null;
  /** Names from the flow's template; with a commit and no fingerprint it waits for such an artifact (contract 7.3). */
  target_artifacts?: string[] | null;
  git_commit_info?: { sha1: string } | null;
  repo_id?: string | null;
  description?: string | null;
  origin_url?: string | null;
  external_urls?: unknown;
  annotations?: unknown;
  user_data?: unknown;
}

async function artifactName(tx: Tx, to: AttestedTrail, fingerprint: string): Promise<string> {
  const name = await findArtifactName(tx, to.org.id, { trail_id: to.trail.id, fingerprint });
  if (name === undefined)
    throw notFound(
      `Artifact with fingerprint ${fingerprint} does not exist in trail "${to.trail.name}" of flow "${to.flow.name}" belonging to organization "${to.org.name}"`,
    );
  return name;
}

/**
 * Records an attestation of any kind. Every call appends another one: the newest of a name counts. Not idempotent.
 * @returns the new attestation's id.
 * @throws AppError not_found when the fingerprint was not reported on the trail (contract 7.4).
 */
export async function recordAttestation(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  to: AttestedTrail,
  input: AttestationInput,
): Promise<string> {
  const { reported_by, ...said } = input;
  const fingerprint = said.artifact_fingerprint ?? null;
  const known = fingerprint === null ? null : await artifactName(tx, to, fingerprint);
  const id = deps.ids.next();
  await insertAttestation(tx, to.org.id, {
    repo_id: null,
    description: null,
    origin_url: null,
    external_urls: null,
    annotations: null,
    user_data: null,
    ...said,
    id,
    flow_id: to.flow.id,
    trail_id: to.trail.id,
    artifact_fingerprint: fingerprint,
    target_artifacts: said.target_artifacts ?? (known === null ? null : [known]),
    git_commit_info: said.git_commit_info ?? null,
    created_at: deps.clock.now(),
    created_by_name: reported_by,
  });
  return id;
}
