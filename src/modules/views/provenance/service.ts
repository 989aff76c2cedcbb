import type { ProvenancePicture } from "../../../contract/provenance.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { drawProvenanceInSteps, pictureLimits } from "../../../domain/provenance-picture.ts";
import { paced } from "../../../lib/steps.ts";
import { zip } from "../../../lib/zip.ts";
import { explainArtifacts } from "../../process/compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findRunName, listPicturedEnvironments, listPicturedReports, mostEnvironments } from "./store.ts";

/**
 * Draws where an artifact comes from, what proves it and where it runs. Three statements, or two and a look at what ran for
 * an artifact that no flow knows; none takes longer the more was reported on its trails.
 * @throws AppError not_found for what was neither reported nor ran.
 */
export async function readProvenance(
  deps: Pick<Deps, "db" | "links">,
  org: Org,
  fingerprint: string,
): Promise<ProvenancePicture> {
  const { db, links } = deps;
  const [rows, environments] = await Promise.all([
    listPicturedReports(db, org.id, fingerprint, pictureLimits.inOnePlace),
    listPicturedEnvironments(db, org.id, fingerprint),
  ]);
  const explanations = await explainArtifacts(
    db,
    org.id,
    rows.map(({ artifact_id }) => artifact_id),
  );
  const reports = zip(rows, explanations).map(([row, { status, requirements }]) => {
    return { ...row, state: status, requirements };
  });
  const [newest] = rows;
  const name =
    newest?.filename ?? environments[0]?.artifact_name ?? (await findRunName(db, org.id, fingerprint));
  if (name === undefined)
    throw notFound(`Artifact with fingerprint '${fingerprint}' does not exist in organization '${org.name}'`);
  const facts = {
    fingerprint,
    name,
    reports,
    environments: environments.slice(0, mostEnvironments),
    more_reports: newest === undefined ? 0 : newest.flow_count - rows.length,
    more_environments: environments.length > mostEnvironments,
  };
  return paced(drawProvenanceInSteps(facts, (path) => links.web(`/${org.name}${path}`)));
}
