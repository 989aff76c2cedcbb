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

/**
 * Makes the row of an attestation.
 * @param artifactName the template name of the artifact it is bound to; null for one bound to none.
 */
export function newAttestation(
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
  const { attestation_name: name, repo_info: _, ...said } = common;
  const input = { ...said, ...kind, name, repo_id, evidence_id, reported_at, reported_by: actor.name };
  return { to: { org, flow, trail }, input };
}
