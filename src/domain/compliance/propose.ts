import { groupBy } from "../../lib/group.ts";
import type { AttestationReport } from "./model.ts";
import type { Place } from "./places.ts";
import { outcomeOf, readRows, type Row } from "./rows.ts";

/** A report that would help. What it says has to be true: attestations are meant to be compliant. */
export interface ProposedReport {
  kind: "artifact" | "attestation";
  /** Template name of the artifact it is about; null for attestations of the trail. */
  artifact_name: string | null;
  /** Fingerprint to bind it to; null for the trail and for artifacts that are yet to be reported. */
  artifact_fingerprint: string | null;
  /**
   * The commit to report the artifact with, so that the attestations that wait for it count; for attestations that go
   * on waiting, the commit they wait for.
   */
  git_commit: string | null;
  /** Null when the artifact itself is to be reported. */
  attestation_name: string | null;
  /** `*` when any type will do. */
  attestation_type: string | null;
  /** The failed attestation that it takes the place of. An override of that one does as well. */
  replaces: string | null;
}

/** A row that is not met, and what would meet it. */
interface Need {
  place: Place;
  row: Row;
  failed: AttestationReport | undefined;
  /** The only type that helps; undefined when any does. */
  required: string | undefined;
}

function needOf(place: Place, row: Row): Need {
  const { entry, current, contradiction } = row;
  const failed = contradiction ?? (current?.is_compliant === false ? current : undefined);
  // A report of any type ends a contradiction, because only the last one counts as such.
  const onlyContradicted = current?.is_compliant === true;
  const free = entry === undefined || entry.type === "*" || onlyContradicted;
  return {
    place,
    row,
    failed,
    required: free ? undefined : entry.type === "decision" ? "system:decision" : entry.type,
  };
}

function needsOf(place: Place): Need[] {
  return readRows(place)
    .filter((row) => outcomeOf(row) !== "met")
    .map((row) => needOf(place, row));
}

function proposal({ place, row, failed, required }: Need): ProposedReport {
  const waiting = place.name !== null && place.artifact === undefined;
  return {
    kind: "attestation",
    artifact_name: place.name,
    artifact_fingerprint: place.artifact?.fingerprint ?? null,
    git_commit: waiting ? (failed?.git_commit ?? null) : null,
    attestation_name: row.name,
    attestation_type: required ?? row.current?.type ?? row.entry?.type ?? "*",
    replaces: failed?.attestation_id ?? null,
  };
}

/**
 * Proposes as few attestations as meet all the needs of one name on one thing: one for each type that is asked for. An artifact
 * may be on the trail under several names, and an attestation bound to its fingerprint counts under all of them.
 */
function cover(needs: readonly Need[]): ProposedReport[] {
  const byType = new Map<string, Need>();
  for (const need of needs)
    if (need.required !== undefined && !byType.has(need.required)) byType.set(need.required, need);
  const chosen = byType.size > 0 ? [...byType.values()] : needs.slice(0, 1);
  return chosen.map(proposal);
}

/** Makes of `place` what it becomes when its artifact is reported with a commit: only what waits for that commit counts. */
function afterReport(place: Place, ofCommit: readonly AttestationReport[]): Place {
  return { ...place, reports: ofCommit };
}

/** Makes a function that counts the needs of `place`, having looked only at what the reports of the commit are about. */
function needCounter(place: Place): (ofCommit: readonly AttestationReport[]) => number {
  const asked = groupBy(place.entries, ({ name }) => name);
  return (ofCommit) => {
    const names = new Set(ofCommit.map(({ name }) => name));
    const entries = [...names].flatMap((name) => asked.get(name) ?? []);
    const unattested = place.entries.length - entries.length;
    return unattested + needsOf({ ...afterReport(place, ofCommit), entries }).length;
  };
}

/** Proposes a missing artifact, with the commit that leaves least to do; of several the one last attested. */
function proposeArtifact(place: Place): ProposedReport[] {
  const commits = place.reports.map((report) => report.git_commit).toReversed();
  const byCommit = groupBy(place.reports, (report) => report.git_commit);
  // What says no commit joins no artifact.
  byCommit.delete(null);
  const waitingFor = (commit: string | null) => byCommit.get(commit) ?? [];
  const countNeeds = needCounter(place);
  const choices = [...new Set([...commits, null])].map((commit) => ({
    commit,
    needs: countNeeds(waitingFor(commit)),
  }));
  const best = choices.reduce((least, choice) => (choice.needs < least.needs ? choice : least));
  const needs = needsOf(afterReport(place, waitingFor(best.commit)));
  const artifact: ProposedReport = {
    kind: "artifact",
    artifact_name: place.name,
    artifact_fingerprint: null,
    git_commit: best.commit,
    attestation_name: null,
    attestation_type: null,
    replaces: null,
  };
  return [artifact, ...needs.map((need) => ({ ...proposal(need), git_commit: null }))];
}

function isMissingArtifact({ artifact, template_index }: Place): boolean {
  return template_index !== -1 && artifact === undefined;
}

/** Makes a key that is the same for needs which the same report can meet. */
function keyOf({ place, row }: Need): string {
  return JSON.stringify([place.artifact?.fingerprint ?? null, place.artifact ? null : place.name, row.name]);
}

/**
 * Proposes the fewest reports that make everything compliant in these places: an artifact for each one that is missing, and
 * attestations. Everything that was reported stays: no artifact is replaced by another one, and a missing artifact
 * is taken to be none of those on the trail. Each report is about one thing, so one that waits for several artifacts is
 * never proposed. None of the proposed reports can be left out.
 * @param places the trail's in the order they are shown in; none twice.
 */
export function proposeReports(places: readonly Place[]): ProposedReport[] {
  const needs = places.filter((place) => !isMissingArtifact(place)).flatMap(needsOf);
  const attestations = [...groupBy(needs, keyOf).values()].flatMap(cover);
  return [...attestations, ...places.filter(isMissingArtifact).flatMap(proposeArtifact)];
}
