import type { CommonAttestationInput } from "../../../contract/attestation-inputs.ts";
import type { UploadedEvidence } from "../../../contract/endpoint.ts";
import type { Actor, Org } from "../../../domain/principal.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { PlacedReport, ReportOrigin } from "../intake/service.ts";
import type { NewAttestation } from "./store.ts";

/** The trail an attestation goes to, with the names its errors speak of. */
export interface AttestedTrail {
  org: Org;
  flow: { id: string; name: string };
  /** `begun`: the report that brings the attestation began it. */
  trail: { id: string; name: string; begun?: boolean };
}

/** What any kind of attestation says. What is left out was not reported. */
export interface AttestationInput extends Pick<
  NewAttestation,
  "name" | "type" | "is_compliant" | "type_data"
> {
  reported_by: string;
  /** When it was reported; now when left out. */
  reported_at?: Timestamp;
  /** It replaces the verdict of what was reported under the name before, and takes its type. */
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

/**
 * Makes the row of an attestation.
 * @param artifactName the template name of the artifact it is bound to; null for one bound to none.
 */
export function newAttestation(
  deps: Pick<Deps, "clock" | "ids">,
  { to, input }: PlacedAttestation,
  artifactName: string | null,
): NewAttestation {
  const targets = input.target_artifacts ?? [];
  // Each member is named: an object made by spreading others is slow to make, and to write as JSON.
  return {
    id: deps.ids.next(),
    flow_id: to.flow.id,
    trail_id: to.trail.id,
    name: input.name,
    type: input.type,
    is_compliant: input.is_compliant,
    is_override: input.is_override ?? false,
    artifact_fingerprint: input.artifact_fingerprint ?? null,
    target_artifacts: targets.length > 0 ? targets : artifactName === null ? null : [artifactName],
    git_commit_info: input.git_commit_info ?? null,
    repo_id: input.repo_id ?? null,
    description: input.description ?? null,
    origin_url: input.origin_url ?? null,
    external_urls: input.external_urls ?? null,
    annotations: input.annotations ?? null,
    user_data: input.user_data ?? null,
    type_data: input.type_data,
    control_identifier: input.control_identifier ?? null,
    evidence_id: input.evidence_id ?? null,
    created_at: input.reported_at ?? deps.clock.now(),
    created_by_name: input.reported_by,
  };
}

/** What is particular to the kind of an attestation. */
export type KindOfAttestation = Pick<
  AttestationInput,
  "type" | "is_compliant" | "type_data" | "is_override" | "control_identifier"
>;

/** One attestation as it was reported. */
export interface ReportedAttestation {
  flow_name: string;
  trail_name: string;
  common: CommonAttestationInput;
  kind: KindOfAttestation;
  /** The file that came with it. */
  attachment?: UploadedEvidence | undefined;
  actor: Actor;
  /** How much was sent, without the file. */
  bodyBytes: number;
}

/** Says where a report comes from and goes to. */
export function originOf(
  { flow_name, trail_name, common, actor }: ReportedAttestation,
  reported_at: Timestamp,
): ReportOrigin {
  return {
    flow: { name: flow_name },
    trail: { name: trail_name },
    git_commit_info: common.git_commit_info ?? null,
    repo_info: common.repo_info,
    actor,
    reported_at,
  };
}

/** Puts what was reported in its place. @param evidence_id of the file that came with it, or null. */
export function placedAttestation(
  org: Org,
  { common, kind, actor }: ReportedAttestation,
  { flow, trail, repo_id, reported_at }: PlacedReport,
  evidence_id: string | null,
): PlacedAttestation {
  const input = {
    name: common.attestation_name,
    type: kind.type,
    is_compliant: kind.is_compliant,
    type_data: kind.type_data,
    is_override: kind.is_override ?? false,
    control_identifier: kind.control_identifier,
    artifact_fingerprint: common.artifact_fingerprint,
    target_artifacts: common.target_artifacts,
    git_commit_info: common.git_commit_info,
    repo_id,
    description: common.description,
    origin_url: common.origin_url,
    external_urls: common.external_urls,
    annotations: common.annotations,
    user_data: common.user_data,
    evidence_id,
    reported_at,
    reported_by: actor.name,
  };
  return { to: { org, flow, trail }, input };
}
