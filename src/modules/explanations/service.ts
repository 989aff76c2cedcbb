import type { ArtifactExplanation, TrailExplanation } from "../../contract/explanations.ts";
import { explainArtifact, explainTrail } from "../../domain/compliance/explain.ts";
import { wireId } from "../../lib/ids.ts";
import { type ArtifactQuestion, getArtifactCase } from "../artifacts/read-service.ts";
import { artifactPage } from "../artifacts/show.ts";
import { readTrailCases } from "../compliance/service.ts";
import type { Deps } from "../deps.ts";
import { getTrailRow } from "../trails/service.ts";
import { showExplanation } from "./show.ts";

type Reading = Pick<Deps, "db" | "links">;

interface Org {
  id: string;
  name: string;
}

function trailPage(
  deps: Reading,
  org: Org,
  { flow_name, name }: { flow_name: string; name: string },
): string {
  return deps.links.web(`/${org.name}/flows/${flow_name}/trails/${name}`);
}

/**
 * Why a trail has the verdict it has.
 * @throws AppError not_found.
 */
export async function readTrailExplanation(
  deps: Reading,
  org: Org,
  names: { flow_name: string; trail_name: string },
): Promise<TrailExplanation> {
  const row = await getTrailRow(deps, org, names);
  const trail = (await readTrailCases(deps.db.query, org.id, [row.id])).get(row.id)!;
  const html_url = trailPage(deps, org, row);
  return {
    flow_name: row.flow_name,
    trail_name: row.name,
    ...showExplanation(explainTrail(trail.template, trail.reports), trail, html_url),
    html_url,
  };
}

/**
 * Why an artifact has the state it has.
 * @throws AppError not_found.
 */
export async function readArtifactExplanation(
  deps: Reading,
  org: Org,
  asked: ArtifactQuestion,
): Promise<ArtifactExplanation> {
  const { row, trail, artifact } = await getArtifactCase(deps, org, asked);
  const { flow_name, trail_name } = row;
  return {
    flow_name,
    trail_name,
    artifact_id: wireId(row.id),
    artifact_fingerprint: row.fingerprint,
    artifact_name: row.template_reference_name,
    ...showExplanation(
      explainArtifact(trail.template, trail.reports, artifact),
      // Of artifacts no earlier moment is kept.
      { ...trail, evaluated_at: trail.last_modified_at },
      trailPage(deps, org, { flow_name, name: trail_name }),
    ),
    html_url: artifactPage(deps, org, row),
  };
}
