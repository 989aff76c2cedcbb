import { wireId } from "../lib/ids.ts";

/** Writes the path of a flow's page, below the organization's. */
export function flowPage({ flow_name }: { flow_name: string }): string {
  return `/flows/${flow_name}`;
}

/** Writes the path of a trail's page, below the organization's. */
export function trailPage({ flow_name, trail_name }: { flow_name: string; trail_name: string }): string {
  return `/flows/${flow_name}/trails/${trail_name}`;
}

/** Writes the path of the page of an artifact's report in a flow, below the organization's. */
export function artifactPage(
  { flow_name, artifact_id }: { flow_name: string; artifact_id: string },
  fingerprint: string,
): string {
  return `/flows/${flow_name}/artifacts/${fingerprint}?artifact_id=${wireId(artifact_id)}`;
}
