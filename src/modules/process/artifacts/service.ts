import type { CreateArtifact } from "../../../contract/artifacts.ts";
import type { Tx } from "../../../db/connect.ts";
import { gitCommitPattern } from "../../../domain/names.ts";
import type { Actor } from "../../../domain/principal.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { zip } from "../../../lib/zip.ts";
import type { FlowOrigin } from "../compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { TrailNews } from "../../notices/notifications/trail-service.ts";
import { createReporter } from "../intake/queues.ts";
import { judgeReports, placeReports, type PlacedReport } from "../intake/service.ts";
import { insertArtifacts, insertBuilds, type NewArtifact } from "./store.ts";

/** What an artifact is called in its trail when the report does not say. */
const defaultTemplateReferenceName = "artifact";

/** One report of an artifact to a flow. */
export interface ReportedArtifact {
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

/** Names the trail of a report. Reports of old clients name none: those about one commit belong together. */
function trailNameOf(artifact: CreateArtifact): string {
  return artifact.trail_name ?? commitOf(artifact) ?? artifact.fingerprint;
}

function newArtifact(id: string, { artifact, actor }: ReportedArtifact, place: PlacedReport): NewArtifact {
  return {
    id,
    flow_id: place.flow.id,
    trail_id: place.trail.id,
    trail_name: place.trail.name,
    fingerprint: artifact.fingerprint,
    filename: artifact.filename,
    template_reference_name: artifact.template_reference_name ?? defaultTemplateReferenceName,
    description: artifact.description ?? null,
    git_commit: commitOf(artifact),
    git_commit_info: artifact.git_commit_info ?? null,
    repo_id: place.repo_id,
    repo_url: artifact.repo_url ?? null,
    commit_url: artifact.commit_url,
    build_url: artifact.build_url,
    external_urls: artifact.external_urls ?? null,
    annotations: artifact.annotations ?? null,
    user_data: artifact.user_data ?? null,
    commits_list: artifact.commits_list ?? null,
    created_at: place.reported_at,
    created_by_name: actor.name,
  };
}

function newsOf({ trail_id, created_at: at, filename: name, fingerprint }: NewArtifact): TrailNews {
  return { trail_id, trigger: "ON_ATTESTED_PROVENANCE", at, facts: { artifact: { name, fingerprint } } };
}

/** Says where the last artifact of each flow comes from. Ids grow from one to the next. */
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
  reports: readonly ReportedArtifact[],
): Promise<string[]> {
  if (reports.length === 0) return [];
  const now = deps.clock.now();
  const origins = reports.map(({ flow_name, artifact, actor, created_at }) => ({
    flow: { name: flow_name },
    trail: { name: trailNameOf(artifact) },
    git_commit_info: artifact.git_commit_info ?? null,
    repo_info: artifact.repo_info,
    actor,
    reported_at: created_at ?? now,
  }));
  const places = await placeReports(deps, tx, orgId, origins);
  const artifacts = zip(reports, places).map(([report, place]) =>
    newArtifact(deps.ids.next(), report, place),
  );
  insertArtifacts(tx, orgId, artifacts);
  await judgeReports(tx, orgId, {
    trails: places.map(({ trail }) => trail),
    sort: { kind: "artifacts", origins: originsOf(artifacts) },
    news: () => artifacts.map(newsOf),
  });
  insertBuilds(tx, orgId, artifacts);
  return artifacts.map(({ id }) => id);
}

/**
 * Reports one artifact, together with others that arrive at the same time (`createReporter`).
 * @returns the report's id.
 */
export const reportArtifact = createReporter<ReportedArtifact & { actor: Actor; bodyBytes: number }>({
  resourceType: "artifact",
  resourceOf: ({ artifact }) => artifact.fingerprint,
  trailOf: ({ artifact }) => trailNameOf(artifact),
  write: (deps, tx, org, reports) => reportArtifacts(deps, tx, org.id, reports),
});
