import type { Tx } from "../../../db/connect.ts";
import { invalid, notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { wireId } from "../../../lib/ids.ts";
import { present } from "../../../lib/present.ts";
import { zip } from "../../../lib/zip.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { TrailNews } from "../../notices/notifications/trail-service.ts";
import { storeEvidence } from "../evidence/service.ts";
import { createReporter } from "../intake/queues.ts";
import { judgeReports, placeReports } from "../intake/service.ts";
import { auditedAttestation, writeAtOnce } from "./at-once-service.ts";
import {
  type AttestationInput,
  type AttestedTrail,
  newAttestation,
  originOf,
  type PlacedAttestation,
  placedAttestation,
  type ReportedAttestation,
} from "./new-attestation.ts";
import { type AskedOverride, listOverrideCases } from "./override-store.ts";
import { withTypes } from "./override-service.ts";
import { insertAttestations, listArtifactNames, type NewAttestation } from "./store.ts";

/**
 * Finds the template names of the artifacts that attestations are bound to.
 * @returns a function that looks one up: null for an attestation bound to none.
 * @throws AppError not_found, by that function, when the trail has no such artifact.
 */
async function findArtifactNames(
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

function askedOverride({ to, input }: PlacedAttestation): AskedOverride {
  return {
    trail_id: to.trail.id,
    name: input.name,
    artifact_fingerprint: input.artifact_fingerprint ?? null,
    target_artifacts: input.target_artifacts ?? null,
    git_commit: input.git_commit_info?.sha1 ?? null,
  };
}

function newsOf(row: NewAttestation): TrailNews {
  const { trail_id, created_at: at, name, type, is_compliant } = row;
  const { artifact_fingerprint: fingerprint, target_artifacts } = row;
  const attestation = { id: wireId(row.id), name, type, is_compliant };
  const artifact =
    fingerprint === null ? {} : { artifact: { name: target_artifacts?.[0] ?? "", fingerprint } };
  return { trail_id, trigger: "ON_ATTESTATION", at, facts: { attestation, ...artifact } };
}

/**
 * Records attestations of any kind in one organization and judges their trails anew, in a handful of statements whatever
 * their number, and one more where there are overrides. The rows of the trails must be locked. Every call appends: the newest of a name counts. Not idempotent.
 * @returns ids, in their order.
 * @throws AppError not_found when a fingerprint was not reported on the trail (contract 7.4).
 */
export async function recordAttestations(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  orgId: string,
  attestations: readonly PlacedAttestation[],
): Promise<string[]> {
  const overrides = attestations.filter(({ input }) => input.is_override === true).map(askedOverride);
  const [nameOf, cases] = await Promise.all([
    findArtifactNames(tx, orgId, attestations),
    overrides.length === 0 ? [] : listOverrideCases(tx, orgId, overrides),
  ]);
  const stated = attestations.map((one) => newAttestation(deps, one, nameOf(one)));
  const found = cases.values();
  const rows = await withTypes(orgId, stated, () => present(found.next().value, "there is one for each"));
  insertAttestations(tx, orgId, rows);
  // Those bound to an artifact leave the trail's own part of its verdict as it is.
  const ofTrails = rows.filter(({ artifact_fingerprint }) => artifact_fingerprint === null);
  await judgeReports(tx, orgId, {
    trails: attestations.map(({ to }) => to.trail),
    sort: { kind: "attestations", own: new Set(ofTrails.map(({ trail_id }) => trail_id)) },
    news: () => rows.map(newsOf),
  });
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
  return present(id, "each attestation gets an id");
}

/**
 * Refuses an attestation for a template name alone, which would not say which artifacts it is for (contract flows 7.3).
 * @throws AppError invalid.
 */
function checkBinding({ common }: ReportedAttestation): void {
  if (common.artifact_fingerprint || common.git_commit_info || !common.target_artifacts?.length) return;
  throw invalid(
    "An attestation for target_artifacts requires at least one of: artifact_fingerprint or git_commit_info.",
  );
}

/** Stores that the organization has the files that came with reports. @returns their ids, null where none came. */
async function storeAttachments(deps: Deps, tx: Tx, org: Org, reports: readonly ReportedAttestation[]) {
  const uploads = reports.flatMap(({ attachment }) => attachment ?? []);
  const files = (await storeEvidence(deps, tx, org.id, uploads)).values();
  return reports.map(({ attachment }) => (attachment ? (files.next().value?.id ?? null) : null));
}

async function writeReports(
  deps: Deps,
  tx: Tx,
  org: Org,
  reports: readonly ReportedAttestation[],
): Promise<string[]> {
  const evidenceIds = await storeAttachments(deps, tx, org, reports);
  const now = deps.clock.now();
  const origins = reports.map((report) => originOf(report, now));
  const places = await placeReports(deps, tx, org.id, origins);
  const placed = zip(zip(reports, places), evidenceIds).map(([[report, place], evidence_id]) =>
    placedAttestation(org, report, place, evidence_id),
  );
  return recordAttestations(deps, tx, org.id, placed);
}

const reportOne = createReporter<ReportedAttestation>({
  ...auditedAttestation,
  trailOf: ({ trail_name }) => trail_name,
  write: writeReports,
  writeAtOnce,
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
