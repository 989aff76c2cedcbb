import type { JudgedArtifact } from "./judge.ts";
import { artifactPage, flowPage, type SnapshotFlow } from "./provenance.ts";

/**
 * Stands for the web address of the organization in a stored document. JSON has no bare control characters, so nothing
 * else in it is one.
 */
export const addressMark = "\u0001";

/** Stands for the annotation, which differs from snapshot to snapshot. */
export const annotationMark = "\u0002";

/**
 * Between two of these a document has the flows that policies decided about, in place of what they decided; what they
 * decided has their numbers, from 0.
 */
export const flowMark = "\u0003";

function text(value: unknown): string {
  return JSON.stringify(value);
}

/** Members of an object as JSON text, without the braces. */
function members(value: Record<string, unknown>): string {
  return JSON.stringify(value).slice(1, -1);
}

/** A link below the organization's page. Paths hold names and digits only, so they stand in JSON as they are. */
function link(path: string): string {
  return `"${addressMark}${path}"`;
}

function printFlow(flow: SnapshotFlow, fingerprint: string): string {
  const { flow_name, trail_name, template_reference_name, git_commit, commit_url, git_commit_info } = flow;
  const { deployment_diff, commit_lead_time, artifact_compliance_in_flow } = flow;
  const commit = { git_commit, commit_url, git_commit_info };
  const before = members({ flow_name, trail_name, template_reference_name, ...commit });
  const after = members({
    deployment_diff,
    commit_lead_time,
    artifact_compliance_in_flow,
    flow_reasons_for_non_compliance: [],
  });
  const [page, flowLink] = [link(artifactPage(flow, fingerprint)), link(flowPage(flow))];
  return `{${before},"html_url":${page},"flow_html_url":${flowLink},${after}}`;
}

/** What an artifact repeats of its first flow. */
function printFirst(flow: SnapshotFlow | undefined, fingerprint: string): string {
  const { flow_name = null, git_commit = null, commit_url = null } = flow ?? {};
  const { deployment_diff = null, commit_lead_time = null } = flow ?? {};
  const page = flow === undefined ? "null" : link(artifactPage(flow, fingerprint));
  const flowLink = flow === undefined ? "null" : link(flowPage(flow));
  const before = members({ flow_name, git_commit, commit_url });
  const after = members({ deployment_diff, commit_lead_time });
  return `${before},"html_url":${page},"flow_html_url":${flowLink},${after}`;
}

/** Of the documents below. To be raised when they change for the same contents. */
export const documentFormat = 1;

/**
 * Everything a document is made of, as a text to compare. Much shorter than the document, which repeats the rules of
 * policies: they follow from the versions, and verdicts and reasons from how the rules resolve.
 */
export function contentsText(
  { running, verdict, compliant, policies }: JudgedArtifact,
  flows: readonly SnapshotFlow[],
): string {
  const resolved = verdict.policy_decisions.map(({ rule_evaluations }) =>
    rule_evaluations.map(({ resolutions }) => resolutions.map(({ type }) => type)),
  );
  return JSON.stringify([
    documentFormat,
    running,
    compliant,
    verdict.allow_listed,
    policies,
    resolved,
    flows,
  ]);
}

/** An artifact as it is stored to be shown. */
export interface PrintedArtifact {
  /** JSON text with marks in it. */
  doc: string;
  /** JSON text of what policies decided, with `flowMark` in it: the same for all artifacts that they found alike. */
  decisions: string;
}

/** What policies decided with numbers in place of flows, and the flows. Any flow may be missing: it stays where it is. */
function shareable(policy_decisions: unknown, flows: readonly SnapshotFlow[]): [string, string[]] {
  const places = flows.map(({ flow_name, trail_name }) => members({ flow_name, trail_name }));
  const decisions = places.reduce(
    (json, place, index) => json.replaceAll(place, flowMark + index + flowMark),
    text(policy_decisions),
  );
  return [decisions, places];
}

/**
 * An artifact as snapshots show it (contract of snapshots), but for what depends on the reader and what is stored once
 * for many. Trust in it is told only where there is some.
 */
export function printArtifact(
  { running, verdict, compliant }: JudgedArtifact,
  flows: readonly SnapshotFlow[],
): PrintedArtifact {
  const { name, fingerprint, creationTimestamp, pods, ...context } = running;
  const { policy_decisions, reasons_for_incompliance, allow_listed } = verdict;
  const [decisions, places] = shareable(policy_decisions, flows);
  const trusted = allow_listed ? { allow_listed } : {};
  const before = members({ name, compliant, deployments: [] });
  const after = members({ reasons_for_incompliance, ...trusted, fingerprint, creationTimestamp, pods });
  const decided = flowMark + places.join(flowMark) + flowMark;
  const first = printFirst(flows[0], fingerprint);
  const all = flows.map((flow) => printFlow(flow, fingerprint)).join(",");
  const tail = Object.entries(context).map(([key, value]) => `,${text(key)}:${text(value)}`);
  const head = `${before},"policy_decisions":${decided},${after}`;
  const doc = `{${head},"annotation":${annotationMark},${first},"flows":[${all}]${tail.join("")}}`;
  return { doc, decisions };
}
