import type { Timestamp } from "../../lib/clock.ts";
import type { Template, TemplateAttestation } from "../template/model.ts";
import type { ArtifactReport, AttestationReport, TrailReports } from "./model.ts";

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

/**
 * Finds the attestations that count for the artifact last reported under a name: those bound to its fingerprint, and those
 * made for the name and its commit. While there is no artifact yet, all that wait for the name.
 * `modules/process/compliance/places-sql.ts` is the same rule in SQL.
 */
function reportsFor(
  name: string,
  artifact: Pick<ArtifactReport, "fingerprint" | "git_commit"> | undefined,
  all: readonly AttestationReport[],
): AttestationReport[] {
  return all.filter((report) => {
    if (report.artifact_fingerprint !== null) return report.artifact_fingerprint === artifact?.fingerprint;
    if (!isFor(report, name)) return false;
    return (
      artifact === undefined || (report.git_commit !== null && report.git_commit === artifact.git_commit)
    );
  });
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
  return namedPlace(template, reports, artifact.template_reference_name, artifact);
}

function namedPlace(
  template: Template,
  reports: TrailReports,
  name: string,
  artifact: ArtifactReport | undefined,
): Place {
  const template_index = template.trail.artifacts.findIndex((expected) => expected.name === name);
  return {
    name,
    artifact,
    template_index,
    entries: template.trail.artifacts[template_index]?.attestations ?? [],
    reports: reportsFor(name, artifact, reports.attestations),
  };
}

/** When an artifact name came up. */
interface Mention {
  name: string;
  at: Timestamp;
}

/** Finds the first mention of each name. */
function firstMentions(mentions: readonly Mention[]): Mention[] {
  const first = new Map<string, Mention>();
  for (const mention of mentions) if (!first.has(mention.name)) first.set(mention.name, mention);
  return [...first.values()];
}

/** Lists artifact names that were reported, or that attestations wait for, in the order in which they first came up. */
function reportedNames(reports: TrailReports): string[] {
  const reported = reports.artifacts.map(({ template_reference_name: name, reported_at: at }) => ({
    name,
    at,
  }));
  const waiting = reports.attestations
    .filter((report) => report.artifact_fingerprint === null)
    .flatMap((report) => (report.target_artifacts ?? []).map((name) => ({ name, at: report.reported_at })));
  const mentions = [...firstMentions(reported), ...firstMentions(waiting)];
  // Sorting keeps the order of what came at the same moment.
  return [...new Set(mentions.sort((a, b) => a.at - b.at).map(({ name }) => name))];
}

/**
 * Makes the places of a trail's artifacts, each with the artifact last reported under its name: expected names in the template's
 * order, then others in the order in which they came up.
 */
export function artifactPlaces(template: Template, reports: TrailReports): (Place & { name: string })[] {
  const expected = template.trail.artifacts.map(({ name }) => name);
  const latest = new Map(reports.artifacts.map((report) => [report.template_reference_name, report]));
  return [...new Set([...expected, ...reportedNames(reports)])].map((name) => ({
    ...namedPlace(template, reports, name, latest.get(name)),
    name,
  }));
}
