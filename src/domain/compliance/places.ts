import { addTo, type NonEmpty } from "../../lib/group.ts";
import { portions, type Steps } from "../../lib/steps.ts";
import type { Template, TemplateArtifact, TemplateAttestation } from "../template/model.ts";
import type { ArtifactReport, AttestationReport, TrailReports } from "./model.ts";
import { reportedNames } from "./reported-names.ts";

/** Where attestations are asked for and counted: the trail itself, or one artifact name on it. */
export interface Place {
  /** Template name of the artifact; null for the trail. */
  name: string | null;
  /** Undefined for the trail, and while no artifact was reported under the name. */
  artifact: ArtifactReport | undefined;
  /** Where the template asks for the artifact; -1 when it does not, and for the trail. */
  template_index: number;
  /** What the template asks for here. */
  entries: readonly TemplateAttestation[];
  /** The attestations that count here, in the order in which they were made. */
  reports: readonly AttestationReport[];
}

function isOnTrail(report: AttestationReport): boolean {
  return report.artifact_fingerprint === null && (report.target_artifacts ?? []).length === 0;
}

function isFor(report: AttestationReport, name: string): boolean {
  return report.target_artifacts?.includes(name) === true;
}

/** What is looked for under a name: the artifact that has it, if one does. */
type Sought = Pick<ArtifactReport, "fingerprint" | "git_commit"> | undefined;

/** Says whether a report that is made for an artifact's name counts for the artifact that has it. */
function joins(
  { git_commit }: Pick<AttestationReport, "git_commit">,
  artifact: Pick<ArtifactReport, "git_commit"> | undefined,
): boolean {
  return artifact === undefined || (git_commit !== null && git_commit === artifact.git_commit);
}

/**
 * Finds the attestations that count for the artifact last reported under a name: those bound to its fingerprint, and those
 * made for the name and its commit. While there is no artifact yet, all that wait for the name.
 * `modules/process/compliance/places-sql.ts` is the same rule in SQL.
 */
function reportsFor(name: string, artifact: Sought, all: readonly AttestationReport[]): AttestationReport[] {
  return all.filter((report) =>
    report.artifact_fingerprint === null
      ? isFor(report, name) && joins(report, artifact)
      : report.artifact_fingerprint === artifact?.fingerprint,
  );
}

/** An attestation, and where it stands among all of its trail. */
interface Placed {
  at: number;
  report: AttestationReport;
}

/** The attestations of a trail by what they are about, each list in the order in which they were made. */
interface ReportIndex {
  byFingerprint: Map<string, NonEmpty<Placed>>;
  /** Those without a fingerprint, by each name they are for. */
  byTarget: Map<string, NonEmpty<Placed>>;
}

function* indexed(all: readonly AttestationReport[]): Steps<ReportIndex> {
  const index: ReportIndex = { byFingerprint: new Map(), byTarget: new Map() };
  for (const [at, report] of all.entries()) {
    yield;
    const { artifact_fingerprint: fingerprint, target_artifacts: targets } = report;
    const placed = { at, report };
    if (fingerprint !== null) addTo(index.byFingerprint, fingerprint, placed);
    else for (const name of new Set(targets)) addTo(index.byTarget, name, placed);
  }
  return index;
}

/** The reports about a name, and about the artifact that has it. */
interface Candidates {
  bound: readonly Placed[];
  named: readonly Placed[];
}

function candidatesFor(name: string, artifact: Sought, index: ReportIndex): Candidates {
  const bound = artifact === undefined ? [] : (index.byFingerprint.get(artifact.fingerprint) ?? []);
  return { bound, named: index.byTarget.get(name) ?? [] };
}

/** Finds what `reportsFor` finds, without looking at reports about anything else. */
function reportsAmong({ bound, named }: Candidates, artifact: Sought): AttestationReport[] {
  const joining = named.filter(({ report }) => joins(report, artifact));
  // Two sorted runs, which sorting only merges.
  const both = [...bound, ...joining].sort((a, b) => a.at - b.at);
  return both.map(({ report }) => report);
}

/** Makes the place of the trail itself. */
export function trailPlace(template: Template, reports: TrailReports): Place {
  return {
    name: null,
    artifact: undefined,
    template_index: -1,
    entries: template.trail.attestations,
    reports: reports.attestations.filter(isOnTrail),
  };
}

/** Makes the place of one artifact under the name it was reported by, also when another one took the name since. */
export function artifactPlace(template: Template, reports: TrailReports, artifact: ArtifactReport): Place {
  const name = artifact.template_reference_name;
  const template_index = template.trail.artifacts.findIndex((expected) => expected.name === name);
  return {
    name,
    artifact,
    template_index,
    entries: template.trail.artifacts[template_index]?.attestations ?? [],
    reports: reportsFor(name, artifact, reports.attestations),
  };
}

/** Where a report counts, and what does there already. */
type PlaceOfReport = Pick<Place, "entries" | "reports">;

/** Makes the place of a name and a commit: that of the artifact last reported with both, else of what waits for one. */
function commitPlace(
  template: Template,
  reports: TrailReports,
  name: string,
  report: AttestationReport,
): PlaceOfReport {
  const artifact = reports.artifacts.findLast(
    (one) => one.template_reference_name === name && joins(report, one),
  );
  if (artifact !== undefined) return artifactPlace(template, reports, artifact);
  const waiting = reports.attestations.filter(
    (one) => one.artifact_fingerprint === null && isFor(one, name) && joins(one, report),
  );
  return { entries: expectedNames(template).get(name)?.entries ?? [], reports: waiting };
}

/**
 * Makes the places where a report counts: the trail; the artifact it is bound to, under the name it is meant for, else the last one; or
 * one for each name that it is made for with its commit.
 */
export function placesOfReport(
  template: Template,
  reports: TrailReports,
  report: AttestationReport,
): PlaceOfReport[] {
  const { artifact_fingerprint, target_artifacts } = report;
  if (artifact_fingerprint === null)
    return isOnTrail(report)
      ? [trailPlace(template, reports)]
      : (target_artifacts ?? []).map((name) => commitPlace(template, reports, name, report));
  const known = reports.artifacts.filter(({ fingerprint }) => fingerprint === artifact_fingerprint);
  const artifact = known.findLast((one) => isFor(report, one.template_reference_name)) ?? known.at(-1);
  return artifact === undefined ? [] : [artifactPlace(template, reports, artifact)];
}

/** An artifact the template asks for, and where it does. */
interface Expected {
  template_index: number;
  entries: TemplateArtifact["attestations"];
}

/** Finds where the template first asks for each name, in its order. */
function expectedNames({ trail }: Template): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const [template_index, { name, attestations: entries }] of trail.artifacts.entries())
    if (!expected.has(name)) expected.set(name, { template_index, entries });
  return expected;
}

/** What a place takes by itself, in reports. */
const weightOfPlace = 9;

function weigh(entries: number, reports: number): number {
  return weightOfPlace + entries + reports;
}

/** Says how much there is to do with a place before the next stop. */
export function weightOf({ entries, reports }: Pick<Place, "entries" | "reports">): number {
  return weigh(entries.length, reports.length);
}

const unexpected: Expected = { template_index: -1, entries: [] };

/** The place of an artifact name. */
export type NamedPlace = Place & { name: string };

/**
 * Makes the places of a trail's artifacts, each with the artifact last reported under its name: expected names in the template's
 * order, then others in the order in which they came up. Takes time in proportion to the template, to what was reported and to
 * the names it was reported for.
 */
export function* artifactPlacesInSteps(template: Template, reports: TrailReports): Steps<NamedPlace[]> {
  const isEnough = portions();
  const expected = expectedNames(template);
  const latest = new Map<string, ArtifactReport>();
  for (const report of reports.artifacts) {
    if (isEnough(1)) yield;
    latest.set(report.template_reference_name, report);
  }
  const names = new Set(expected.keys());
  for (const name of yield* reportedNames(reports)) {
    if (isEnough(1)) yield;
    names.add(name);
  }
  const index = yield* indexed(reports.attestations);
  const places: NamedPlace[] = [];
  for (const name of names) {
    const artifact = latest.get(name);
    const asked = expected.get(name) ?? unexpected;
    const candidates = candidatesFor(name, artifact, index);
    if (isEnough(weigh(asked.entries.length, candidates.bound.length + candidates.named.length))) yield;
    places.push({ name, artifact, ...asked, reports: reportsAmong(candidates, artifact) });
  }
  return places;
}
