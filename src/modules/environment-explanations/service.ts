import type { EnvironmentExplanation } from "../../contract/environment-explanations.ts";
import {
  type Evidence,
  explainRecorded,
  runtimeStatus,
  summarizeArtifact,
  summarizeEnvironment,
} from "../../domain/snapshot/explain.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";
import { resolveSnapshot } from "../snapshots/find-service.ts";
import { showRemedy, showRequirement } from "./show.ts";
import { getJudgedSnapshot, listEvidence, listMemberStates, type RecordedRow } from "./store.ts";

type Reading = Pick<Deps, "db" | "clock" | "links">;

/** Attestations of each artifact, by flow. */
async function readEvidence(
  deps: Reading,
  org: Org,
  artifacts: readonly RecordedRow[],
): Promise<Evidence[][][]> {
  const places = artifacts.flatMap(({ fingerprint, flows }) =>
    flows.map(({ trail_id, template_reference_name, git_commit }) => ({
      fingerprint,
      trail_id,
      template_reference_name,
      git_commit,
    })),
  );
  const found = places.length === 0 ? new Map() : await listEvidence(deps.db.query, org.id, places);
  let place = 0;
  return artifacts.map(({ flows }) => flows.map((): Evidence[] => found.get(place++) ?? []));
}

function explainArtifact(
  deps: Reading,
  org: Org,
  row: RecordedRow & { evidence: Evidence[][] },
  at: Timestamp,
): EnvironmentExplanation["artifacts"][number] {
  const { name, fingerprint, compliant, allow_listed } = row;
  const { requirements, remedies } = explainRecorded(row, at);
  return {
    artifact_name: name,
    artifact_fingerprint: fingerprint,
    status: runtimeStatus(compliant),
    is_compliant: compliant === true,
    summary: summarizeArtifact(compliant, row),
    allow_listed,
    requirements: requirements.map((requirement) => showRequirement(deps, org, requirement)),
    proposed_reports: remedies.map((remedy) => showRemedy(fingerprint, remedy)),
  };
}

/**
 * Why an environment has the verdict it has, or had in an earlier snapshot.
 * @param expression which snapshot; empty or undefined for the latest.
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression.
 */
export async function readEnvironmentExplanation(
  deps: Reading,
  org: Org,
  name: string,
  expression: string | undefined,
): Promise<EnvironmentExplanation> {
  const { environment, index, count } = await resolveSnapshot(deps, org, name, expression || "-1");
  const snapshot = await getJudgedSnapshot(deps.db.query, org.id, { environment_id: environment.id, index });
  const { timestamp, compliant, applied_policies, artifacts, type } = snapshot;
  const evidence = await readEvidence(deps, org, artifacts);
  const members =
    type === "logical" ? await listMemberStates(deps.db.query, org.id, environment.id) : undefined;
  return {
    environment_name: environment.name,
    environment_type: type,
    snapshot_index: index,
    is_latest: index === count,
    status: runtimeStatus(compliant),
    is_compliant: compliant === true,
    summary: summarizeEnvironment({
      compliant,
      policies: applied_policies.length,
      artifacts: artifacts.map((artifact) => artifact.compliant),
    }),
    evaluated_at: timestamp,
    policies: applied_policies.map(({ name: policy, version, failing_artifacts }) => ({
      name: policy,
      version,
      failing_artifacts: failing_artifacts.length,
    })),
    members: members?.map((member) => ({ name: member.name, status: runtimeStatus(member.state) })) ?? null,
    artifacts: artifacts.map((artifact, at) =>
      explainArtifact(deps, org, { ...artifact, evidence: evidence[at]! }, timestamp),
    ),
    html_url: deps.links.web(`/${org.name}/environments/${environment.name}/snapshots/${index}`),
  };
}
