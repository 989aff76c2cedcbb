import { groupBy } from "../../lib/group.ts";
import { grouped, portions, type Steps } from "../../lib/steps.ts";
import type { AttestationReport } from "./model.ts";
import { type Place, weightOf } from "./places.ts";
import { outcomeOf, readRowsInSteps, type Row } from "./rows.ts";

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

function* needsOf(place: Place): Steps<Need[]> {
  const isEnough = portions();
  const needs: Need[] = [];
  for (const row of yield* readRowsInSteps(place)) {
    if (isEnough(1)) yield;
    if (outcomeOf(row) !== "met") needs.push(needOf(place, row));
  }
  return needs;
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
function needCounter(place: Place): (ofCommit: readonly AttestationReport[]) => Steps<number> {
  const asked = groupBy(place.entries, ({ name }) => name);
  return function* (ofCommit) {
    const names = new Set(ofCommit.map(({ name }) => name));
    const entries = [...names].flatMap((name) => asked.get(name) ?? []);
    const unattested = place.entries.length - entries.length;
    return unattested + (yield* needsOf({ ...afterReport(place, ofCommit), entries })).length;
  };
}

/** Groups reports by their commits, that of the last report first. What says no commit joins no artifact. */
function* byCommit(reports: readonly AttestationReport[]): Steps<Map<string, AttestationReport[]>> {
  const groups = yield* grouped(reports.toReversed(), ({ git_commit }) => git_commit);
  const isEnough = portions();
  const inOrder = new Map<string, AttestationReport[]>();
  for (const [commit, group] of groups) {
    if (isEnough(group.length)) yield;
    if (commit !== null) inOrder.set(commit, group.toReversed());
  }
  return inOrder;
}

/**
 * Proposes a missing artifact, with the commit that leaves least to do; of several the one last attested, and none only where
 * that leaves less.
 */
function* proposeArtifact(place: Place): Steps<ProposedReport[]> {
  const waiting = yield* byCommit(place.reports);
  const countNeeds = needCounter(place);
  const isEnough = portions();
  let best: { commit: string | null; needs: number } | undefined;
  for (const [commit, reports] of [...waiting, [null, []] as const]) {
    if (isEnough(1 + reports.length)) yield;
    const needs = yield* countNeeds(reports);
    if (best === undefined || needs < best.needs) best = { commit, needs };
  }
  const commit = best?.commit ?? null;
  const needs = yield* needsOf(afterReport(place, commit === null ? [] : (waiting.get(commit) ?? [])));
  const artifact: ProposedReport = {
    kind: "artifact",
    artifact_name: place.name,
    artifact_fingerprint: null,
    git_commit: commit,
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
export function* proposeReportsInSteps(places: readonly Place[]): Steps<ProposedReport[]> {
  const isEnough = portions();
  const needs: Need[] = [];
  const artifacts: ProposedReport[] = [];
  for (const place of places) {
    if (isEnough(weightOf(place))) yield;
    if (isMissingArtifact(place)) for (const one of yield* proposeArtifact(place)) artifacts.push(one);
    else for (const need of yield* needsOf(place)) needs.push(need);
  }
  const proposed: ProposedReport[] = [];
  for (const some of (yield* grouped(needs, keyOf)).values()) {
    if (isEnough(some.length)) yield;
    for (const one of cover(some)) proposed.push(one);
  }
  yield;
  return proposed.concat(artifacts);
}
