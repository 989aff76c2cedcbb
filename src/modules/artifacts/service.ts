import type { CreateArtifact } from "../../contract/artifacts.ts";
import type { Tx } from "../../db/connect.ts";
import { gitCommitPattern } from "../../domain/names.ts";
import type { Actor } from "../../domain/principal.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { evaluateTrails, type FlowOrigin } from "../compliance/service.ts";
import type { Deps } from "../deps.ts";
import { ensureFlows } from "../flows/ensure.ts";
import { notifyOfTrails, type TrailNews } from "../notifications/trail-service.ts";
import { createReporter } from "../report-queues.ts";
import { captureRepos } from "../repos/service.ts";
import { type EnsuredTrail, ensureTrails, trailKey } from "../trails/ensure.ts";
import { insertArtifacts, insertBuilds, type NewArtifact } from "./store.ts";

/** What an artifact is called in its trail when the report does not say. */
export const defaultTemplateReferenceName = "artifact";

/** One report of an artifact to a flow. */
export interface ArtifactReport {
  flow_name: string;
  artifact: CreateArtifact;
  actor: Pick<Actor, "id" | "name">;
  /** When it was reported; now when left out. For loading records made elsewhere, oldest first. */
  created_at?: Timestamp;
}

function commitOf(artifact: CreateArtifact): string | null {
  if (artifact.git_commit) return artifact.git_commit;
  const sha1 = artifact.git_commit_info?.sha1;
  return sha1 !== undefined && gitCommitPattern.test(sha1) ? sha1 : null;
}

/** Reports of old clients name no trail: those about one commit belong together. */
function trailNameOf(artifact: CreateArtifact): string {
  return artifact.trail_name ?? commitOf(artifact) ?? artifact.fingerprint;
}

interface Placed extends ArtifactReport {
  flow_id: string;
  trail_name: string;
  repo_id: string | null;
  reported_at: Timestamp;
}

function newArtifact(id: string, trailId: string, report: Placed): NewArtifact {
  const { artifact } = report;
  return {
    id,
    flow_id: report.flow_id,
    trail_id: trailId,
    trail_name: report.trail_name,
    fingerprint: artifact.fingerprint,
    filename: artifact.filename,
    template_reference_name: artifact.template_reference_name ?? defaultTemplateReferenceName,
    description: artifact.description ?? null,
    git_commit: commitOf(artifact),
    git_commit_info: artifact.git_commit_info ?? null,
    repo_id: report.repo_id,
    repo_url: artifact.repo_url ?? null,
    commit_url: artifact.commit_url,
    build_url: artifact.build_url,
    external_urls: artifact.external_urls ?? null,
    annotations: artifact.annotations ?? null,
    user_data: artifact.user_data ?? null,
    commits_list: artifact.commits_list ?? null,
    created_at: report.reported_at,
    created_by_name: report.actor.name,
  };
}

/**
 * Writes reports of artifacts of one organization: creates what flows, trails and repos they need, moves the trails on,
 * judges them, and records a build for each fingerprint that is new to the organization. A handful of statements,
 * whatever the number of reports; a few thousand at a time are fine. Not idempotent by nature: each report is a record
 * of its own. Rows are locked in the order flows, repos, trails, activity of flows, numbering.
 * @returns ids of the reports, in their order.
 */
export async function reportArtifacts(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  orgId: string,
  reports: readonly ArtifactReport[],
): Promise<string[]> {
  if (reports.length === 0) return [];
  const now = deps.clock.now();
  const wanted = reports.map(({ flow_name, actor, created_at }) => ({
    name: flow_name,
    created_by_name: actor.name,
    created_at: created_at ?? now,
  }));
  const [flows, repoIds] = await Promise.all([
    ensureFlows(deps, tx, orgId, wanted),
    captureRepos(
      deps,
      tx,
      orgId,
      reports.map(({ artifact }) => artifact.repo_info),
    ),
  ]);
  const placed = reports.map<Placed>((report, index) => ({
    ...report,
    flow_id: flows.get(report.flow_name)!,
    trail_name: trailNameOf(report.artifact),
    repo_id: repoIds[index]!,
    reported_at: report.created_at ?? now,
  }));
  return writePlaced(deps, tx, orgId, placed);
}

function newsOf(trails: readonly EnsuredTrail[], artifacts: readonly NewArtifact[]): TrailNews[] {
  const begun = new Set(trails.flatMap((trail) => (trail.begun ? trail.id : [])));
  return artifacts.flatMap((artifact) => {
    const { trail_id, created_at: at, filename: name, fingerprint } = artifact;
    const reported = { trail_id, trigger: "ON_ATTESTED_PROVENANCE", at } as const;
    const started = { trail_id, trigger: "ON_STARTED_TRAIL", at, facts: {} } as const;
    return [
      ...(begun.delete(trail_id) ? [started] : []),
      { ...reported, facts: { artifact: { name, fingerprint } } },
    ];
  });
}

/** Where the last artifact of each flow comes from. Ids grow from one to the next. */
function originsOf(artifacts: readonly NewArtifact[]): FlowOrigin[] {
  const latest = new Map<string, FlowOrigin>();
  for (const { id, flow_id, repo_id, repo_url } of artifacts)
    latest.set(flow_id, {
      flow_id,
      artifact_id: id,
      repo_id: repo_url ? null : repo_id,
      repo_url: repo_url || null,
    });
  return [...latest.values()];
}

async function writePlaced(
  deps: Pick<Deps, "ids">,
  tx: Tx,
  orgId: string,
  reports: readonly Placed[],
): Promise<string[]> {
  const wanted = reports.map((report) => ({
    flow_id: report.flow_id,
    name: report.trail_name,
    repo_id: report.repo_id,
    reported_at: report.reported_at,
    git_commit_info: report.artifact.git_commit_info ?? null,
    created_by: report.actor,
  }));
  const trails = await ensureTrails(deps, tx, orgId, wanted);
  const artifacts = reports.map((report, index) =>
    newArtifact(deps.ids.next(), trails.get(trailKey(wanted[index]!))!.id, report),
  );
  insertArtifacts(tx, orgId, artifacts);
  const watched = await evaluateTrails(
    tx,
    orgId,
    artifacts.map(({ trail_id }) => trail_id),
    { kind: "artifacts", origins: originsOf(artifacts) },
  );
  await notifyOfTrails(tx, orgId, watched, () => newsOf([...trails.values()], artifacts));
  insertBuilds(tx, orgId, artifacts);
  return artifacts.map(({ id }) => id);
}

interface LiveReport extends ArtifactReport {
  actor: Actor;
}

const reportOne = createReporter<{ id: string }, LiveReport>({
  trailOf: ({ artifact }) => trailNameOf(artifact),
  payload: ({ artifact }) => artifact,
  write: async ({ deps, org, tx, record }, reports) => {
    const ids = await reportArtifacts(deps, tx, org.id, reports);
    for (const { actor, artifact } of reports) record(actor, "artifact", artifact.fingerprint);
    return ids;
  },
});

/**
 * Reports one artifact, together with others that arrive at the same time (`createReporter`).
 * @returns the report's id.
 */
export function reportArtifact(deps: Deps, orgId: string, report: LiveReport): Promise<string> {
  return reportOne(deps, { id: orgId }, report);
}
