import type { Tx } from "../../db/connect.ts";
import { notFound } from "../../domain/errors.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { wireId } from "../../lib/ids.ts";
import { evaluateTrails } from "../compliance/service.ts";
import type { Deps } from "../deps.ts";
import { notifyOfTrails, type TrailNews } from "../notifications/trail-service.ts";
import { insertAttestations, listArtifactNames, type NewAttestation } from "./store.ts";

/** The trail an attestation goes to, with the names its errors speak of. */
export interface AttestedTrail {
  org: { id: string; name: string };
  flow: { id: string; name: string };
  /** `begun`: the report that brings the attestation began it. */
  trail: { id: string; name: string; begun?: boolean };
}

/** What any kind of attestation says. Whatever is left out was not reported. */
export interface AttestationInput extends Pick<
  NewAttestation,
  "name" | "type" | "is_compliant" | "type_data"
> {
  reported_by: string;
  /** When it was reported; now when left out. */
  reported_at?: Timestamp;
  /** It replaces the verdict of what was reported under the name before. */
  is_override?: boolean;
  artifact_fingerprint?: string | null | undefined;
  /** Names from the flow's template; with a commit and no fingerprint it waits for such an artifact (contract 7.3). */
  target_artifacts?: string[] | null | undefined;
  git_commit_info?: { sha1: string } | null | undefined;
  repo_id?: string | null | undefined;
  description?: string | null | undefined;
  origin_url?: string | null | undefined;
  external_urls?: unknown;
  annotations?: unknown;
  user_data?: unknown;
  control_identifier?: string | null | undefined;
  /** A file the organization has. */
  evidence_id?: string | null | undefined;
}

/** An attestation and where it goes. */
export interface PlacedAttestation {
  to: AttestedTrail;
  input: AttestationInput;
}

/** Template names of the artifacts that attestations are bound to, by trail and fingerprint. */
async function artifactNames(
  tx: Tx,
  orgId: string,
  attestations: readonly PlacedAttestation[],
): Promise<(one: PlacedAttestation) => string | null> {
  const bound = attestations.flatMap(({ to, input }) =>
    input.artifact_fingerprint ? { trail_id: to.trail.id, fingerprint: input.artifact_fingerprint } : [],
  );
  const names = new Map<string, string>();
  const found = bound.length === 0 ? [] : await listArtifactNames(tx, orgId, bound);
  for (const { trail_id, fingerprint, name } of found) names.set(`${trail_id}/${fingerprint}`, name);
  return ({ to, input: { artifact_fingerprint: fingerprint } }) => {
    if (!fingerprint) return null;
    const name = names.get(`${to.trail.id}/${fingerprint}`);
    if (name !== undefined) return name;
    throw notFound(
      `Artifact with fingerprint ${fingerprint} does not exist in trail "${to.trail.name}" of flow "${to.flow.name}" belonging to organization "${to.org.name}"`,
    );
  };
}

function newAttestation(
  deps: Pick<Deps, "clock" | "ids">,
  { to, input }: PlacedAttestation,
  artifactName: string | null,
): NewAttestation {
  const { reported_by, reported_at, ...said } = input;
  const targets = said.target_artifacts ?? [];
  return {
    ...said,
    is_override: said.is_override ?? false,
    repo_id: said.repo_id ?? null,
    description: said.description ?? null,
    origin_url: said.origin_url ?? null,
    external_urls: said.external_urls ?? null,
    annotations: said.annotations ?? null,
    user_data: said.user_data ?? null,
    control_identifier: said.control_identifier ?? null,
    evidence_id: said.evidence_id ?? null,
    id: deps.ids.next(),
    flow_id: to.flow.id,
    trail_id: to.trail.id,
    artifact_fingerprint: said.artifact_fingerprint ?? null,
    target_artifacts: targets.length > 0 ? targets : artifactName === null ? null : [artifactName],
    git_commit_info: said.git_commit_info ?? null,
    created_at: reported_at ?? deps.clock.now(),
    created_by_name: reported_by,
  };
}

/** Whether it was made on the trail: about the trail, or about artifacts that it is not bound to yet. */
function isOfTrail({ artifact_fingerprint }: NewAttestation): boolean {
  return artifact_fingerprint === null;
}

function newsOf(attestations: readonly PlacedAttestation[], rows: readonly NewAttestation[]): TrailNews[] {
  const begun = new Set(attestations.flatMap(({ to: { trail } }) => (trail.begun === true ? trail.id : [])));
  return rows.flatMap((row) => {
    const { trail_id, created_at: at, artifact_fingerprint: fingerprint, target_artifacts } = row;
    const started = { trail_id, trigger: "ON_STARTED_TRAIL", at, facts: {} } as const;
    const { name, type, is_compliant } = row;
    const attestation = { id: wireId(row.id), name, type, is_compliant };
    const artifact =
      fingerprint === null ? {} : { artifact: { name: target_artifacts?.[0] ?? "", fingerprint } };
    const reported = {
      trail_id,
      trigger: "ON_ATTESTATION",
      at,
      facts: { attestation, ...artifact },
    } as const;
    return [...(begun.delete(trail_id) ? [started] : []), reported];
  });
}

/**
 * Records attestations of any kind in one organization and judges their trails anew, in a handful of statements whatever
 * their number. The rows of the trails must be locked. Every call appends: the newest of a name counts. Not idempotent.
 * @returns ids, in their order.
 * @throws AppError not_found when a fingerprint was not reported on the trail (contract 7.4).
 */
export async function recordAttestations(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  orgId: string,
  attestations: readonly PlacedAttestation[],
): Promise<string[]> {
  const nameOf = await artifactNames(tx, orgId, attestations);
  const rows = attestations.map((one) => newAttestation(deps, one, nameOf(one)));
  insertAttestations(tx, orgId, rows);
  const watched = await evaluateTrails(
    tx,
    orgId,
    rows.map(({ trail_id }) => trail_id),
    { kind: "attestations", own: new Set(rows.filter(isOfTrail).map(({ trail_id }) => trail_id)) },
  );
  await notifyOfTrails(tx, orgId, watched, () => newsOf(attestations, rows));
  return rows.map(({ id }) => id);
}

/** Records one attestation, as `recordAttestations`. @returns its id. */
export async function recordAttestation(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  to: AttestedTrail,
  input: AttestationInput,
): Promise<string> {
  const [id] = await recordAttestations(deps, tx, to.org.id, [{ to, input }]);
  return id!;
}
