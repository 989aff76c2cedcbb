import type { z } from "zod";

import type {
  RunningArtifact,
  SnapshotArtifactCounts,
  SnapshotArtifactRow,
} from "../../../contract/running.ts";
import { artifactPage } from "../../../domain/pages.ts";
import type { Org } from "../../../domain/principal.ts";
import { verdicts } from "../../../domain/running.ts";
import { annotationTypes } from "../../../domain/snapshot/annotate.ts";
import type { Links } from "../../../lib/links.ts";
import type { ArtifactRow } from "./rows-store.ts";
import type { ChosenArtifacts } from "./snapshot-store.ts";

type Running = z.output<typeof RunningArtifact>;
type Counts = z.output<typeof SnapshotArtifactCounts>;

/** Where links lead. */
export interface Place {
  links: Links;
  org: Pick<Org, "name">;
}

/** Shows an artifact that runs. */
export function showRunning({ links, org }: Place, row: ArtifactRow): Running {
  const { flow, flow_name, fingerprint } = row;
  const page =
    flow === null || flow_name === null
      ? null
      : links.web(`/${org.name}${artifactPage({ flow_name, artifact_id: flow.artifact_id }, fingerprint)}`);
  return {
    environment_name: row.environment_name,
    environment_type: row.environment_type,
    snapshot_index: row.snapshot_index,
    artifact_name: row.name,
    fingerprint,
    compliant: row.compliant,
    allow_listed: row.allow_listed,
    reasons: row.reasons,
    flow_name,
    trail_name: flow?.trail_name ?? null,
    template_reference_name: flow?.template_reference_name ?? null,
    git_commit: flow?.git_commit ?? null,
    commit_url: flow?.commit_url ?? null,
    repo_name: row.repo_name,
    started_at: row.started_at,
    instance_count: row.now,
    html_url: page,
  };
}

/** Shows an artifact of a snapshot. */
export function showInSnapshot(place: Place, row: ArtifactRow): z.output<typeof SnapshotArtifactRow> {
  const { type, was, now } = row;
  return { ...showRunning(place, row), annotation: { type, was, now } };
}

/** Sums up how many artifacts of each kind there are; verdict and provenance are of those that run. */
export function showCounts(kinds: ChosenArtifacts["kinds"]): Counts {
  const counts: Counts = {
    running: 0,
    compliant: { true: 0, false: 0, unknown: 0 },
    provenance: { known: 0, none: 0 },
    annotation: Object.fromEntries(annotationTypes.map((type) => [type, 0])) as Counts["annotation"],
  };
  for (const { type, verdict, is_known, count } of kinds) {
    counts.annotation[type] += count;
    if (type === "exited") continue;
    counts.running += count;
    counts.compliant[verdicts[verdict] ?? "unknown"] += count;
    counts.provenance[is_known ? "known" : "none"] += count;
  }
  return counts;
}
