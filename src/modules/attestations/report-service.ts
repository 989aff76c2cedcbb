import type { CommonAttestationInput } from "../../contract/attestation-inputs.ts";
import type { UploadedEvidence } from "../../contract/endpoint.ts";
import type { Tx } from "../../db/connect.ts";
import { invalid } from "../../domain/errors.ts";
import type { Actor } from "../../domain/principal.ts";
import { wireId } from "../../lib/ids.ts";
import type { Deps } from "../deps.ts";
import { storeEvidence } from "../evidence/service.ts";
import { ensureFlows } from "../flows/ensure.ts";
import { createReporter } from "../report-queues.ts";
import { captureRepos } from "../repos/service.ts";
import { ensureTrails, trailKey } from "../trails/ensure.ts";
import { type AttestationInput, recordAttestations } from "./service.ts";

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
}

interface Org {
  id: string;
  name: string;
}

/** An attestation for a template name alone would not say which artifacts it is for (contract flows 7.3). */
function checkBinding({ common }: ReportedAttestation): void {
  if (common.artifact_fingerprint || common.git_commit_info || !common.target_artifacts?.length) return;
  throw invalid(
    "An attestation for target_artifacts requires at least one of: artifact_fingerprint or git_commit_info.",
  );
}

/** The flows and trails of reports, made where they are missing (contract flows 3.8). */
async function placesOf(deps: Deps, tx: Tx, org: Org, reports: readonly ReportedAttestation[]) {
  const now = deps.clock.now();
  const flowsOfReports = reports.map(({ flow_name, actor }) => ({
    name: flow_name,
    created_by_name: actor.name,
    created_at: now,
  }));
  const [flows, repoIds] = await Promise.all([
    ensureFlows(deps, tx, org.id, flowsOfReports),
    captureRepos(
      deps,
      tx,
      org.id,
      reports.map(({ common }) => common.repo_info),
    ),
  ]);
  const wanted = reports.map(({ flow_name, trail_name, common, actor }, index) => ({
    flow_id: flows.get(flow_name)!,
    name: trail_name,
    repo_id: repoIds[index]!,
    reported_at: now,
    git_commit_info: common.git_commit_info ?? null,
    created_by: actor,
  }));
  const trails = await ensureTrails(deps, tx, org.id, wanted);
  return wanted.map((place) => ({ ...place, trail: trails.get(trailKey(place))! }));
}

/** Notes that the organization has the files that came with reports. @returns their ids, null where none came. */
async function evidenceIdsOf(deps: Deps, tx: Tx, org: Org, reports: readonly ReportedAttestation[]) {
  const uploads = reports.flatMap(({ attachment }) => attachment ?? []);
  const files = (await storeEvidence(deps, tx, org.id, uploads)).values();
  return reports.map(({ attachment }) => (attachment ? (files.next().value?.id ?? null) : null));
}

async function writeAll(
  deps: Deps,
  tx: Tx,
  org: Org,
  reports: readonly ReportedAttestation[],
): Promise<string[]> {
  const evidenceIds = await evidenceIdsOf(deps, tx, org, reports);
  const places = await placesOf(deps, tx, org, reports);
  const placed = reports.map(({ flow_name, trail_name, common, kind, actor }, index) => {
    const { flow_id, trail, repo_id, reported_at } = places[index]!;
    const { attestation_name, repo_info: _, ...said } = common;
    return {
      to: { org, flow: { id: flow_id, name: flow_name }, trail: { ...trail, name: trail_name } },
      input: {
        ...said,
        ...kind,
        name: attestation_name,
        repo_id,
        evidence_id: evidenceIds[index]!,
        reported_at,
        reported_by: actor.name,
      },
    };
  });
  return recordAttestations(deps, tx, org.id, placed);
}

const reportOne = createReporter<Org, ReportedAttestation>({
  trailOf: ({ trail_name }) => trail_name,
  payload: ({ common, kind }) => [common, kind],
  write: async ({ deps, org, tx, record }, reports) => {
    const ids = await writeAll(deps, tx, org, reports);
    for (const [index, { actor }] of reports.entries()) record(actor, "attestation", wireId(ids[index]!));
    return ids;
  },
});

/**
 * Reports one attestation: flow, trail and repo are made as needed, the trail is judged anew. Together with
 * others that arrive at the same time (`createReporter`). Not idempotent: each report is a record of its own.
 * @returns the attestation's id.
 * @throws AppError invalid when nothing says which artifact is meant, not_found for one that is not on the trail.
 */
export async function reportAttestation(deps: Deps, org: Org, report: ReportedAttestation): Promise<string> {
  checkBinding(report);
  // Bytes before rows: a crash in between leaves at most bytes that nothing refers to.
  await report.attachment?.keep();
  return reportOne(deps, org, report);
}
