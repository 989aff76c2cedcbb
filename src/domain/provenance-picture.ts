import type { Requirement } from "./compliance/explain.ts";
import type { ComplianceState } from "./compliance/model.ts";
import { artifactPage, trailPage } from "./pages.ts";
import { wireId } from "../lib/ids.ts";
import { portions, type Steps } from "../lib/steps.ts";

/** Most nodes of a picture, and most of a kind in one place: the others are folded into one node. */
export const pictureLimits = { nodes: 200, inOnePlace: 12 } as const;

/** Kinds of nodes, in the order of their ranks. */
export const pictureKinds = ["commit", "trail", "artifact", "attestation", "environment"] as const;
type PictureKind = (typeof pictureKinds)[number];

/** The newest report of the artifact in one flow, with what its trail asks for and has. */
interface PicturedReport {
  flow_name: string;
  trail_name: string;
  trail_state: ComplianceState | null;
  artifact_id: string;
  git_commit: string | null;
  /** The artifact's there. */
  state: ComplianceState;
  requirements: readonly Requirement[];
}

/** Everything that a picture is made of. */
export interface PictureFacts {
  fingerprint: string;
  name: string;
  /** Newest first. */
  reports: readonly PicturedReport[];
  /** Where it runs, by name. Null is a verdict that is not known. */
  environments: readonly { name: string; compliant: boolean | null }[];
  /** How many reports are not among these. */
  more_reports: number;
  /** Whether there are more environments than these. */
  more_environments: boolean;
}

/** One thing in a picture, or several that are folded. */
interface PictureNode {
  id: string;
  kind: PictureKind;
  label: string;
  /** Null where there is none, or it is not known. */
  verdict: ComplianceState | null;
  html_url: string;
  /** Asked for, and not reported; of several, whether any is. */
  missing: boolean;
  /** How many are folded into it; left out for a single thing. */
  count?: number;
}

/** Where an artifact comes from, what proves it, and where it runs. */
export interface Picture {
  nodes: PictureNode[];
  edges: { from: string; to: string }[];
  /** Whether anything is folded or left out. */
  truncated: boolean;
}

const severity: readonly (ComplianceState | null)[] = ["NON-COMPLIANT", "INCOMPLETE", "COMPLIANT", null];

/** Gives the worst of some verdicts; null when there is none. */
function worst(verdicts: readonly (ComplianceState | null)[]): ComplianceState | null {
  return severity.find((state) => verdicts.includes(state)) ?? null;
}

function verdictOf(isCompliant: boolean | null): ComplianceState | null {
  if (isCompliant === null) return null;
  return isCompliant ? "COMPLIANT" : "NON-COMPLIANT";
}

/** How much a node asks to be seen: what failed, what is missing, what is not complete, the others. */
function urgency({ verdict, missing }: PictureNode): number {
  if (verdict === "NON-COMPLIANT") return 0;
  if (missing) return 1;
  return verdict === "INCOMPLETE" ? 2 : 3;
}

/** A picture that is being drawn. */
class Drawing {
  readonly nodes = new Map<string, PictureNode>();
  readonly #edges = new Map<string, { from: string; to: string }>();
  truncated = false;

  add(node: PictureNode): PictureNode {
    this.nodes.set(node.id, node);
    return node;
  }

  connect(from: string, to: string): void {
    this.#edges.set(JSON.stringify([from, to]), { from, to });
  }

  /**
   * Adds nodes of one kind in one place, the most urgent ones alone and the others folded, if there are too many.
   * @param more how many there are beside these.
   * @returns the nodes that stand for them.
   */
  addSome(
    nodes: readonly PictureNode[],
    fold: { id: string; html_url: string; most: number; more?: number },
  ): PictureNode[] {
    const { id, html_url, most, more = 0 } = fold;
    const rest = Math.max(0, nodes.length - most) + more;
    if (rest === 0) return nodes.map((node) => this.add(node));
    const byUrgency = nodes.toSorted((left, right) => urgency(left) - urgency(right));
    const chosen = new Set(byUrgency.slice(0, most));
    const folded = byUrgency.slice(most);
    this.truncated = true;
    const shown = nodes.filter((node) => chosen.has(node)).map((node) => this.add(node));
    const [first] = nodes;
    if (first === undefined) return shown;
    const verdict = worst(folded.map((node) => node.verdict));
    const missing = folded.some((node) => node.missing);
    const others = { id, kind: first.kind, label: `+ ${rest}`, verdict, html_url, missing, count: rest };
    return [...shown, this.add(others)];
  }

  picture(): Picture {
    const nodes = [...this.nodes.values()].toSorted(
      (left, right) => pictureKinds.indexOf(left.kind) - pictureKinds.indexOf(right.kind),
    );
    return { nodes, edges: [...this.#edges.values()], truncated: this.truncated };
  }
}

type Link = (path: string) => string;

function trailId({ flow_name, trail_name }: PicturedReport): string {
  return `trail:${flow_name}/${trail_name}`;
}

function evidenceNode(report: PicturedReport, requirement: Requirement, link: Link): PictureNode {
  const { attestation } = requirement;
  const label = requirement.attestation_name ?? "";
  const page = link(trailPage(report));
  if (attestation === null) {
    const id = `missing:${trailId(report)}/${requirement.artifact_name ?? ""}/${label}`;
    return { id, kind: "attestation", label, verdict: null, html_url: page, missing: true };
  }
  const id = wireId(attestation.attestation_id);
  return {
    id: `attestation:${id}`,
    kind: "attestation",
    label,
    verdict: verdictOf(attestation.is_compliant),
    html_url: `${page}?attestation_id=${id}`,
    missing: false,
  };
}

/** What was reported of a trail, or of the artifact on it. */
interface EvidencePlace {
  /** The node that it hangs on. */
  from: string;
  id: string;
  html_url: string;
  /** As many as tell what stands alone and what is folded. */
  nodes: PictureNode[];
  /** How many there are beside these. */
  more: number;
}

/** Says what may become of a requirement in a picture. */
function sortOf({ attestation }: Requirement): boolean | null {
  return attestation === null ? null : attestation.is_compliant;
}

/**
 * Finds what was reported in a place, of which there may be very much. Of each sort there is one more than can stand alone, and of the others only
 * how many there are: what is folded has the same verdict without them.
 */
function* evidencePlace(
  report: PicturedReport,
  ofTrail: boolean,
  artifact: string,
  link: Link,
): Steps<EvidencePlace> {
  const isEnough = portions();
  const kept = new Map<boolean | null, number>();
  const nodes: PictureNode[] = [];
  let more = 0;
  for (const requirement of report.requirements) {
    if (isEnough(1)) yield;
    if (requirement.kind !== "attestation" || (requirement.artifact_name === null) !== ofTrail) continue;
    const sort = sortOf(requirement);
    const before = kept.get(sort) ?? 0;
    if (before > pictureLimits.inOnePlace) {
      more += 1;
      continue;
    }
    kept.set(sort, before + 1);
    nodes.push(evidenceNode(report, requirement, link));
  }
  const from = ofTrail ? trailId(report) : artifact;
  const id = `attestations:${trailId(report)}/${ofTrail ? "trail" : "artifact"}`;
  return { from, id, html_url: link(trailPage(report)), nodes, more };
}

function* evidencePlaces(
  reports: readonly PicturedReport[],
  artifact: string,
  link: Link,
): Steps<EvidencePlace[]> {
  const places: EvidencePlace[] = [];
  for (const report of reports)
    for (const ofTrail of [true, false]) {
      const place = yield* evidencePlace(report, ofTrail, artifact, link);
      if (place.nodes.length > 0) places.push(place);
    }
  return places;
}

/** Divides what is left of the nodes among places, each with a folded node. @returns how many nodes each may have alone. */
function shareOf(places: number, left: number): number {
  return places === 0 ? 0 : Math.min(pictureLimits.inOnePlace, Math.floor(left / places) - 1);
}

function drawOrigins(
  drawing: Drawing,
  facts: PictureFacts,
  { id, html_url }: PictureNode,
  link: Link,
): PicturedReport[] {
  const most = pictureLimits.inOnePlace;
  const shown = facts.reports.slice(0, most);
  const commits = new Map<string, PictureNode>();
  for (const { git_commit } of shown) {
    if (git_commit === null) continue;
    const [label, page] = [git_commit.slice(0, 7), link(`/commits/${git_commit}`)];
    const node = { id: `commit:${git_commit}`, kind: "commit", label, html_url: page } as const;
    commits.set(git_commit, drawing.add({ ...node, verdict: null, missing: false }));
  }
  const nodes = shown.map((report): PictureNode => {
    const label = `${report.flow_name}/${report.trail_name}`;
    const page = link(trailPage(report));
    return {
      id: trailId(report),
      kind: "trail",
      label,
      verdict: report.trail_state,
      html_url: page,
      missing: false,
    };
  });
  const more = facts.reports.length - shown.length + facts.more_reports;
  for (const node of drawing.addSome(nodes, { id: "trails", html_url, most, more }))
    drawing.connect(node.id, id);
  for (const report of shown) {
    const commit = commits.get(report.git_commit ?? "");
    if (commit !== undefined) drawing.connect(commit.id, trailId(report));
  }
  return shown;
}

function drawEnvironments(drawing: Drawing, facts: PictureFacts, artifact: string, link: Link): void {
  const nodes = facts.environments.map(({ name, compliant }): PictureNode => {
    const verdict = verdictOf(compliant);
    const html_url = link(`/environments/${name}`);
    return { id: `environment:${name}`, kind: "environment", label: name, verdict, html_url, missing: false };
  });
  const html_url = link(`/running?fingerprint=${facts.fingerprint}`);
  const fold = { id: "environments", html_url, most: pictureLimits.inOnePlace };
  for (const node of drawing.addSome(nodes, fold)) drawing.connect(artifact, node.id);
  if (facts.more_environments) drawing.truncated = true;
}

/**
 * Draws where an artifact comes from, what proves it, what is missing, and where it runs: commits, trails, the artifact,
 * attestations, environments, in this order. At most 200 nodes, whatever there is.
 * @param link makes the address of a path below the organization's page.
 */
export function* drawProvenanceInSteps(facts: PictureFacts, link: Link): Steps<Picture> {
  const { fingerprint, reports } = facts;
  const drawing = new Drawing();
  const [newest] = reports;
  const artifact = drawing.add({
    id: `artifact:${fingerprint}`,
    kind: "artifact",
    label: facts.name,
    verdict: worst(reports.map(({ state }) => state)),
    html_url: link(newest === undefined ? `/artifacts/${fingerprint}` : artifactPage(newest, fingerprint)),
    missing: false,
  });
  const shown = drawOrigins(drawing, facts, artifact, link);
  drawEnvironments(drawing, facts, artifact.id, link);
  const places = yield* evidencePlaces(shown, artifact.id, link);
  const most = shareOf(places.length, pictureLimits.nodes - drawing.nodes.size);
  for (const { from, nodes, ...fold } of places)
    for (const node of drawing.addSome(nodes, { ...fold, most })) drawing.connect(from, node.id);
  return drawing.picture();
}
