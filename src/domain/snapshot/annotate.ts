import { compareText } from "../../lib/text.ts";
import { artifactKey } from "./running.ts";

/** Words for what became of an artifact since the snapshot before. */
export const annotationTypes = [
  "started-compliant",
  "started-non-compliant",
  "started-unknown",
  "became-compliant",
  "became-non-compliant",
  "updated-provenance",
  "changed",
  "unchanged",
  "exited",
] as const;
export type AnnotationType = (typeof annotationTypes)[number];

/** Kinds of events: `verdict` is one on an artifact that turned, `changed` whatever else is no start and no exit. */
export const eventKinds = ["started", "exited", "changed", "verdict"] as const;
export type EventKind = (typeof eventKinds)[number];

/** Says of which kind an event of this type is. */
export function eventKind(type: Exclude<AnnotationType, "unchanged">): EventKind {
  if (type === "exited") return "exited";
  if (type.startsWith("started-")) return "started";
  return type.startsWith("became-") ? "verdict" : "changed";
}

/** With the numbers of instances then and now. */
export interface Annotation {
  type: AnnotationType;
  was: number;
  now: number;
}

/** An artifact with everything that snapshots are compared by. */
export interface ComparedArtifact {
  name: string;
  fingerprint: string;
  /** One for each instance. */
  creationTimestamp: readonly number[];
  /** Null: unknown. */
  compliant: boolean | null;
  /** Ids of the trails that know it, in any order. Ids, because names change when flows are renamed or archived. */
  provenance: readonly string[];
  /** Whatever else has been found out about it that bears on compliance: see `findingsText`. */
  findings: string;
}

export interface Annotated<Artifact> {
  artifact: Artifact;
  annotation: Annotation;
}

/** Results of policies and flows for an artifact, as far as a difference in them is worth a snapshot. */
interface Findings {
  policy_decisions: readonly {
    policy_name: string;
    rule_evaluations: readonly { resolutions: readonly { type: string }[] }[];
  }[];
  flows: readonly { artifact_compliance_in_flow: boolean | null }[];
}

/** Writes findings as a text to compare. Versions of policies and the order of policies and flows do not matter. */
export function findingsText({ policy_decisions, flows }: Findings): string {
  const decisions = policy_decisions.map(({ policy_name, rule_evaluations }) =>
    JSON.stringify([
      policy_name,
      rule_evaluations.map(({ resolutions }) => resolutions.map(({ type }) => type).toSorted(compareText)),
    ]),
  );
  const verdicts = flows.map(({ artifact_compliance_in_flow }) => String(artifact_compliance_in_flow));
  return JSON.stringify([decisions.toSorted(compareText), verdicts.toSorted(compareText)]);
}

const fulfilled = new Set(["rule_satisfied", "rule_not_applicable"]);

/** Lists the names of the policies that an artifact does not comply with, by its findings. */
export function failingPolicies(findings: string): string[] {
  const [decisions] = JSON.parse(findings) as [string[]];
  return decisions.flatMap((text) => {
    const [policy, rules] = JSON.parse(text) as [string, string[][]];
    return rules.flat().every((resolution) => fulfilled.has(resolution)) ? [] : [policy];
  });
}

function startedType(compliant: boolean | null): AnnotationType {
  if (compliant === null) return "started-unknown";
  return compliant ? "started-compliant" : "started-non-compliant";
}

function hasSameProvenance(before: ComparedArtifact, after: ComparedArtifact): boolean {
  const [known, now] = [new Set(before.provenance), new Set(after.provenance)];
  return known.size === now.size && [...now].every((trail) => known.has(trail));
}

function changeType(before: ComparedArtifact, after: ComparedArtifact): AnnotationType {
  if (before.compliant !== after.compliant) {
    // There is no word for a verdict that got lost with the last policy.
    if (after.compliant === null) return "changed";
    return after.compliant ? "became-compliant" : "became-non-compliant";
  }
  if (!hasSameProvenance(before, after)) return "updated-provenance";
  return before.findings === after.findings ? "unchanged" : "changed";
}

function annotateOne(before: ComparedArtifact | undefined, after: ComparedArtifact): Annotation {
  const now = after.creationTimestamp.length;
  if (before === undefined) return { type: startedType(after.compliant), was: 0, now };
  return { type: changeType(before, after), was: before.creationTimestamp.length, now };
}

/** Ranks changed artifacts before unchanged ones, and these before those that have exited. */
function rank(type: AnnotationType): number {
  if (type === "exited") return 2;
  return type === "unchanged" ? 1 : 0;
}

function newest(timestamps: readonly number[]): number {
  return timestamps.reduce((latest, each) => Math.max(latest, each), -Infinity);
}

/** The keys by which artifacts are ordered in a snapshot. */
export interface Place {
  rank: number;
  newest: number;
  name: string;
  fingerprint: string;
}

/**
 * Finds the place of an artifact in a snapshot. Without an annotation it is the place among those that are not compared
 * yet.
 */
export function placeOf(
  {
    name,
    fingerprint,
    creationTimestamp,
  }: Pick<ComparedArtifact, "name" | "fingerprint" | "creationTimestamp">,
  annotation?: Annotation,
): Place {
  const type = annotation?.type ?? "unchanged";
  return { rank: rank(type), newest: newest(creationTimestamp), name, fingerprint };
}

/**
 * Compares places: what is new or different comes first, then what is not, then what has exited, each with the youngest
 * first.
 */
export function byPlace(left: Place, right: Place): number {
  return (
    left.rank - right.rank ||
    // Equal ages may be infinite.
    (left.newest === right.newest ? 0 : right.newest - left.newest) ||
    compareText(left.name, right.name) ||
    compareText(left.fingerprint, right.fingerprint)
  );
}

/**
 * Compares what runs with what ran. First what runs now, in its order, then what has exited, which is shown as it was.
 * @param before what ran at the latest snapshot; what had exited by then left out.
 */
export function annotate<Artifact extends ComparedArtifact>(
  before: readonly Artifact[],
  after: readonly Artifact[],
): Annotated<Artifact>[] {
  const known = new Map(before.map((artifact) => [artifactKey(artifact), artifact]));
  const annotated = after.map((artifact) => {
    const key = artifactKey(artifact);
    const annotation = annotateOne(known.get(key), artifact);
    known.delete(key);
    return { artifact, annotation };
  });
  for (const artifact of known.values())
    annotated.push({
      artifact,
      annotation: { type: "exited", was: artifact.creationTimestamp.length, now: 0 },
    });
  return annotated;
}

/** Says whether anything has changed that a new snapshot has to record. Numbers of instances and times do not count. */
export function isNewSnapshot(annotated: readonly Annotated<unknown>[]): boolean {
  return annotated.some(({ annotation }) => annotation.type !== "unchanged");
}

/** Counts the running artifacts that are compliant, not, or unknown; exited ones do not count. */
export function countCompliance(
  annotated: readonly Annotated<{ compliant: boolean | null }>[],
): Record<"true" | "false" | "null", number> {
  const counts = { true: 0, false: 0, null: 0 };
  for (const { artifact, annotation } of annotated)
    if (annotation.type !== "exited") counts[`${artifact.compliant}`] += 1;
  return counts;
}

function instances(count: number): string {
  return `${count} instance${count === 1 ? "" : "s"}`;
}

/** Describes a change in one line for people. */
export function describeChange({ type, was, now }: Annotation): string {
  if (type === "exited") return `${instances(was)} stopped running (from ${was} to ${now})`;
  if (type.startsWith("started-")) return `${instances(now)} started running (from ${was} to ${now})`;
  return `${instances(now)} ${type === "unchanged" ? "unchanged" : "changed"}`;
}
