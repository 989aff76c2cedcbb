import type { PreparedExecutor } from "../../db/connect.ts";
import { memberByLine } from "../../db/member-by-line.ts";
import { readWeighed } from "../../db/weighed-page.ts";

/** Which reports of artifacts: all of a trail, or those of one artifact of a flow. */
export type ArtifactScope =
  | { kind: "trail"; trail_id: string }
  | { kind: "artifact"; flow_id: string; fingerprint: string };

/** A report of an artifact as packages have it. */
export interface PackagedArtifact {
  id: string;
  wire_id: string;
  template_reference_name: string;
  /** Text of what was reported, and of the verdict that rests on it. */
  json: string;
}

/**
 * The artifact object of the public interface, as far as it is a record: nothing that changes without a report. The
 * verdict is that of its trail, unless another artifact has taken its name there.
 */
const artifactObject = `json_build_object(
  'artifact_id', wire_id(a.id),
  'fingerprint', a.fingerprint,
  'filename', a.filename,
  'flow_name', f.name,
  'trail_name', t.name,
  'template_reference_name', a.template_reference_name,
  'description', a.description,
  'git_commit', a.git_commit,
  'git_commit_info', a.git_commit_info,
  'commits_list', a.commits_list,
  'repo_url', a.repo_url,
  'commit_url', a.commit_url,
  'build_url', a.build_url,
  'external_urls', a.external_urls,
  'annotations', a.annotations,
  'user_data', a.user_data,
  'created_at', epoch(a.created_at),
  'reported_by', a.created_by_name,
  'html_url', $3::text || '/' || $2::text || '/flows/' || f.name || '/artifacts/' || a.fingerprint
    || '?artifact_id=' || wire_id(a.id),
  'compliance_status', case when c.row ->> 'artifact_fingerprint' = a.fingerprint then c.row end)`;

function listing(kind: ArtifactScope["kind"], where: string) {
  return {
    name: `packaged-artifacts-of-${kind}`,
    table: "artifacts",
    where,
    order: "template_reference_name",
    large: ["user_data", "commits_list", "git_commit_info", "annotations", "external_urls"],
    columns: `wire_id(a.id) as wire_id, a.template_reference_name, ${memberByLine(artifactObject)} as json`,
    joins: `
      join trails t on t.org_id = a.org_id and t.id = a.trail_id
      join flows f on f.org_id = a.org_id and f.id = a.flow_id
      left join lateral (
        select v.status -> 'artifacts_statuses' -> a.template_reference_name as row
        from trail_compliance v where v.org_id = a.org_id and v.trail_id = a.trail_id) c on true`,
  };
}

const listings = {
  trail: listing("trail", "a.trail_id = $4"),
  artifact: listing("artifact", "a.flow_id = $4 and a.fingerprint = $5"),
};

/** Pages of reports of artifacts by template name, those of a name oldest first. */
export function listPackagedArtifacts(
  db: PreparedExecutor,
  org: { id: string; name: string },
  web: string,
  scope: ArtifactScope,
): AsyncGenerator<PackagedArtifact[]> {
  const ids = scope.kind === "trail" ? [scope.trail_id] : [scope.flow_id, scope.fingerprint];
  return readWeighed<PackagedArtifact>(db, listings[scope.kind], [org.id, org.name, web, ...ids]);
}

const newest = {
  name: "newest-artifact-of-flow",
  text: `
    select fingerprint from artifacts
    where org_id = $1 and flow_id = $2 and fingerprint >= $3 and fingerprint < $3::text || 'g'
    order by id desc limit 1`,
};

/** The fingerprint that begins like this of the artifact a flow reported last; undefined when there is none. */
export async function findFingerprint(
  db: PreparedExecutor,
  orgId: string,
  at: { flow_id: string; fingerprint: string },
): Promise<string | undefined> {
  const [row] = await db.prepared<{ fingerprint: string }>(newest, [orgId, at.flow_id, at.fingerprint]);
  return row?.fingerprint;
}
