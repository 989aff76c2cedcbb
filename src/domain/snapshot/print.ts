import type { Steps } from "../../lib/steps.ts";
import { itemPieces } from "../../lib/wide-json.ts";
import type { PolicyDecision, ShownRule } from "../policy/evaluation/model.ts";
import type { JudgedArtifact } from "./judge.ts";
import { artifactPage, flowPage } from "../pages.ts";
import type { SnapshotFlow } from "./provenance.ts";

/**
 * Stands for the web address of the organization in a stored document. JSON has no bare control characters, so nothing
 * else in it is one.
 */
export const addressMark = "\u0001";

/** Stands for the annotation, which differs from snapshot to snapshot. */
export const annotationMark = "\u0002";

/**
 * Stands around flows in a stored document, where decisions of policies belong: between two of these is a flow. In the
 * decisions themselves its number stands there, from 0.
 */
export const flowMark = "\u0003";

/**
 * Stands for all that a stored document says of flows, which is written when it is shown: flows are stored beside it. Only
 * where they are few, so that nobody waits for that.
 */
export const flowsMark = "\u0004";

/**
 * Stands for where an artifact runs in a stored document: members of an object, which its version has beside the document to compare
 * with.
 */
export const placesMark = "\u0005";

function text(value: unknown): string {
  return JSON.stringify(value);
}

/** Writes the members of an object as JSON text, without the braces. */
function members(value: Record<string, unknown>): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Writes a link below the organization's page. Paths hold names and digits only, so they stand in JSON as they are. */
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

/** Writes what an artifact repeats of its first flow. */
function printFirst(flow: SnapshotFlow | undefined, fingerprint: string): string {
  const { flow_name = null, git_commit = null, commit_url = null } = flow ?? {};
  const { deployment_diff = null, commit_lead_time = null } = flow ?? {};
  const page = flow === undefined ? "null" : link(artifactPage(flow, fingerprint));
  const flowLink = flow === undefined ? "null" : link(flowPage(flow));
  const before = members({ flow_name, git_commit, commit_url });
  const after = members({ deployment_diff, commit_lead_time });
  return `${before},"html_url":${page},"flow_html_url":${flowLink},${after}`;
}

/** The version of the documents below. To be raised when they change for the same contents. */
export const documentFormat = 1;

/**
 * Writes everything a document is made of, as pieces of a text to compare: many where an artifact runs in many places. Much
 * shorter than the document, which repeats the rules of policies: they follow from the versions, and verdicts and reasons
 * from how the rules resolve.
 */
export function contentsPieces(
  { running, verdict, compliant, policies }: JudgedArtifact,
  flows: readonly SnapshotFlow[],
): Generator<string> {
  const resolved = verdict.policy_decisions.map(({ rule_evaluations }) =>
    rule_evaluations.map(({ resolutions }) => resolutions.map(({ type }) => type)),
  );
  return itemPieces([documentFormat, running, compliant, verdict.allow_listed, policies, resolved, flows]);
}

/** An artifact as it is stored to be shown. */
interface PrintedArtifact {
  /** JSON text with marks in it. */
  doc: string;
  /** JSON text of what policies decided, with `flowMark` in it: the same for all artifacts that they found alike. */
  decisions: string;
}

/** Any flow in JSON text, which has no bare quotes but those around texts. */
const placePattern = /"flow_name":(?:null|"(?:[^"\\]|\\.)*"),"trail_name":(?:null|"(?:[^"\\]|\\.)*")/g;

/** Rules as JSON text: each is shown with every artifact. */
const printedRules = new WeakMap<ShownRule, string>();

function printRule(rule: ShownRule): string {
  const printed = printedRules.get(rule) ?? text(rule);
  printedRules.set(rule, printed);
  return printed;
}

/** Writes what policies decided with numbers in place of flows. Any flow may be missing: it stays where it is. */
function* shareable(decisions: readonly PolicyDecision[], places: readonly string[]): Steps<string> {
  const numbers = new Map<string, number>();
  for (const [number, place] of places.entries()) if (!numbers.has(place)) numbers.set(place, number);
  const mark = (place: string): string => {
    const number = numbers.get(place);
    return number === undefined ? place : flowMark + number + flowMark;
  };
  const printed: string[] = [];
  for (const { rule_evaluations, ...decision } of decisions) {
    const rules: string[] = [];
    for (const { rule, ...evaluation } of rule_evaluations) {
      rules.push(`{"rule":${printRule(rule)},${members(evaluation).replaceAll(placePattern, mark)}}`);
      yield;
    }
    printed.push(`{${members(decision)},"rule_evaluations":[${rules.join(",")}]}`);
  }
  return `[${printed.join(",")}]`;
}

/** Flows that are printed before somebody else may do something, and that documents leave out. */
const fewFlows = 20;

/**
 * Writes what `flowsMark` stands for, with marks in it.
 * @param flows few, as they are stored.
 */
export function printFlows(flows: readonly SnapshotFlow[], fingerprint: string): string {
  const all = flows.map((flow) => printFlow(flow, fingerprint)).join(",");
  return `${printFirst(flows[0], fingerprint)},"flows":[${all}]`;
}

function* printManyFlows(flows: readonly SnapshotFlow[], fingerprint: string): Steps<string> {
  const printed: string[] = [];
  for (const flow of flows) {
    printed.push(printFlow(flow, fingerprint));
    if (printed.length % fewFlows === 0) yield;
  }
  return `${printFirst(flows[0], fingerprint)},"flows":[${printed.join(",")}]`;
}

/**
 * Writes an artifact as snapshots show it (contract of snapshots), but for what depends on the reader and what is
 * stored once for many. Trust in it is told only where there is some.
 */
export function* printArtifact(
  { running, verdict, compliant }: JudgedArtifact,
  flows: readonly SnapshotFlow[],
): Steps<PrintedArtifact> {
  const { name, fingerprint } = running;
  const { policy_decisions, reasons_for_incompliance, allow_listed } = verdict;
  const places = flows.map(({ flow_name, trail_name }) => members({ flow_name, trail_name }));
  const decisions = yield* shareable(policy_decisions, places);
  const trusted = allow_listed ? { allow_listed } : {};
  const before = members({ name, compliant, deployments: [] });
  const after = members({ reasons_for_incompliance, ...trusted, fingerprint });
  const decided = flowMark + places.join(flowMark) + flowMark;
  const shown = flows.length > fewFlows ? yield* printManyFlows(flows, fingerprint) : flowsMark;
  const head = `${before},"policy_decisions":${decided},${after},${placesMark}`;
  const doc = `{${head},"annotation":${annotationMark},${shown}}`;
  return { doc, decisions };
}
