import { createHash } from "node:crypto";

import type { Executor, Tx } from "../../../db/connect.ts";
import {
  evaluateArtifactInSteps,
  evaluateTrailInSteps,
  keptState,
} from "../../../domain/compliance/evaluate.ts";
import { explainArtifactInSteps, type Explanation } from "../../../domain/compliance/explain.ts";
import type {
  ArtifactReport,
  ComplianceState,
  KeptVerdict,
  TrailCompliance,
  TrailReports,
} from "../../../domain/compliance/model.ts";
import { outcomeNamesInSteps } from "../../../domain/compliance/outcome.ts";
import { printComplianceInSteps, printStatesInSteps } from "../../../domain/compliance/print.ts";
import type { Template } from "../../../domain/template/model.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { sha256 } from "../../../lib/hash.ts";
import { listParts } from "../../../lib/json-parts.ts";
import { present } from "../../../lib/present.ts";
import { eachOf, paced, pacedIf, type Steps } from "../../../lib/steps.ts";
import { zip } from "../../../lib/zip.ts";
import { type DecidingCase, findExplainedCase, listArtifactCases, listCases } from "./case-store.ts";
import { knownTemplates } from "../flows/known-templates.ts";
import {
  type FlowOrigin,
  listStates,
  putVerdicts,
  type Verdict,
  writeVerdicts,
  type WrittenVerdicts,
} from "./store.ts";

export type { FlowOrigin, Verdict } from "./store.ts";

/** Makes a digest of what a verdict says of the trail itself: of the JSON of status, rows and template. */
function* ownDigest({ status, attestations_statuses }: TrailCompliance, template_id: string): Steps<string> {
  const rows = yield* listParts(attestations_statuses);
  const parts = [`[${JSON.stringify(status)},`, ...rows, `,${JSON.stringify(template_id)}]`];
  // It takes a fraction of what follows.
  if (rows.length === 1) return sha256(parts.join("")).toString("base64url");
  const hash = createHash("sha256");
  for (const part of parts) {
    yield;
    hash.update(part);
  }
  return hash.digest("base64url");
}

/** As much of what decides on a trail as judging it takes. */
export type JudgedCase = Omit<DecidingCase, "name" | "flow_id" | "watched_flow">;

/**
 * Judges a trail. Its verdict is reached anew unless nothing but artifacts was attested and that left the trail's own
 * part of it as it was.
 */
function* judge(template: Template, trail: JudgedCase, anew: boolean): Steps<Verdict> {
  const compliance = yield* evaluateTrailInSteps(template, trail);
  const { last_modified_at, template_id } = trail;
  const own_digest = yield* ownDigest(compliance, template_id);
  const kept = anew || own_digest !== trail.own_digest ? null : trail.evaluated_at;
  const evaluated_at = kept ?? last_modified_at;
  const status = yield* printComplianceInSteps(compliance, {
    evaluated_at: last_modified_at,
    trail_evaluated_at: evaluated_at,
    template_id,
  });
  yield;
  return {
    trail_id: trail.trail_id,
    state: compliance.status,
    own_state: compliance.own_state,
    artifact_states: yield* printStatesInSteps(compliance),
    status,
    evaluated_at,
    own_digest,
    reported_at: last_modified_at,
    names: yield* outcomeNamesInSteps(compliance),
  };
}

/** Makes a function from the text of each case's template to the template. */
function templatesOf(
  orgId: string,
  cases: readonly { template: string }[],
): Promise<(text: string) => Template> {
  return knownTemplates(
    orgId,
    cases.map(({ template }) => template),
  );
}

/** A trail of a flow that an action watches, and what it was judged to be. */
export interface WatchedTrail {
  trail_id: string;
  name: string;
  status: ComplianceState;
  flow: { id: string; name: string };
}

/** What sort of reports trails are judged after. */
export type ReportedSort =
  | { kind: "trail" }
  /** `origins` says where they come from, by flow. */
  | { kind: "artifacts"; origins: readonly FlowOrigin[] }
  /** `own` has the ids of the trails on which some of them were made; others are on artifacts of the trails. */
  | { kind: "attestations"; own: ReadonlySet<string> };

/** Characters of a template for each name in it, at least. */
const charactersAName = 15;

/** How much is judged in one go: names in templates, reports, and names that reports wait for. It takes a few milliseconds. */
const judgedInOneGo = 1000;

/** Says whether judging these takes so long that others have to come in between. */
function isMuch(cases: readonly Pick<JudgedCase, "template" | "artifacts" | "attestations">[]): boolean {
  let weight = 0;
  for (const { template, artifacts, attestations } of cases) {
    weight += template.length / charactersAName + artifacts.length + attestations.length;
    for (const { target_artifacts } of attestations) weight += target_artifacts?.length ?? 0;
    if (weight > judgedInOneGo) return true;
  }
  return false;
}

/**
 * Judges trails by what decides on them. Where there is much of it, other work of the process comes in between.
 * @param sort what was reported on them.
 */
export async function judgeCases(
  orgId: string,
  cases: readonly JudgedCase[],
  sort: ReportedSort,
): Promise<Verdict[]> {
  const templateOf = await templatesOf(orgId, cases);
  const isAnew = (id: string): boolean => sort.kind !== "attestations" || sort.own.has(id);
  const steps = eachOf(cases, (one) => judge(templateOf(one.template), one, isAnew(one.trail_id)));
  return pacedIf(isMuch(cases), steps);
}

/** Writes the verdicts on some cases as the database takes them. Other work comes in between as in `judgeCases`. */
export async function writtenVerdicts(
  cases: readonly JudgedCase[],
  verdicts: readonly Verdict[],
): Promise<WrittenVerdicts> {
  return pacedIf(isMuch(cases), writeVerdicts(verdicts));
}

/**
 * Judges trails by everything reported on them and stores the verdicts. Call it last in every transaction that begins a
 * trail, changes its template or reports anything on it, with the trails' rows locked: the verdict is then always that
 * of the reports that can be read beside it. Its time is that of the report that led to it (contract flows 6.2): the
 * trail's `last_modified_at`, or an earlier one when only artifacts were attested since, to no effect on the trail. Two
 * or three statements, whatever the number of trails.
 * @param sort what was reported on them.
 * @returns the trails somebody may want to be notified of.
 */
export async function evaluateTrails(
  tx: Tx,
  orgId: string,
  trailIds: Iterable<string>,
  sort: ReportedSort,
): Promise<WatchedTrail[]> {
  const ids = [...new Set(trailIds)];
  if (ids.length === 0) return [];
  const cases = await listCases(tx, orgId, ids);
  const verdicts = await judgeCases(orgId, cases, sort);
  const written = await writtenVerdicts(cases, verdicts);
  putVerdicts(tx, orgId, written, sort.kind === "artifacts" ? sort.origins : []);
  return zip(cases, verdicts).flatMap(([{ trail_id, name, flow_id, watched_flow }, { state }]) =>
    watched_flow === null ? [] : { trail_id, name, status: state, flow: { id: flow_id, name: watched_flow } },
  );
}

/** What a report of an artifact is judged by. */
export interface JudgeableArtifact {
  artifact: ArtifactReport;
  template: Template;
  template_id: string;
  /** The artifact, and those attestations on it and on its trail that decide. */
  reports: TrailReports;
  /** The time of the last report on its trail. */
  last_modified_at: Timestamp;
}

/**
 * Reads what decides on reports of artifacts, by their ids and in that order. One statement, at a cost that does not grow with
 * what was reported on the trails.
 */
export async function readArtifactCases(
  db: Executor,
  orgId: string,
  artifactIds: readonly string[],
): Promise<JudgeableArtifact[]> {
  const cases = artifactIds.length === 0 ? [] : await listArtifactCases(db, orgId, artifactIds);
  const templateOf = await templatesOf(orgId, cases);
  return cases.map(({ template, artifact, attestations, ...rest }) => ({
    ...rest,
    artifact,
    template: templateOf(template),
    reports: { artifacts: [artifact], attestations },
  }));
}

/**
 * Judges artifacts as artifacts, by the attestations on them and those their trails need: for those that lost
 * their template names to others, of which the verdicts of trails say nothing. By their ids and in that order. One
 * statement.
 */
export async function judgeArtifacts(
  db: Executor,
  orgId: string,
  artifactIds: readonly string[],
): Promise<ComplianceState[]> {
  if (artifactIds.length === 0) return [];
  const cases = await readArtifactCases(db, orgId, artifactIds);
  return paced(
    eachOf(cases, ({ template, reports, artifact }) => evaluateArtifactInSteps(template, reports, artifact)),
  );
}

/**
 * Explains the states of artifacts, with what is missing for them and for their trails, by their ids and in that order. One
 * statement, at a cost that does not grow with what was reported on the trails.
 */
export async function explainArtifacts(
  db: Executor,
  orgId: string,
  artifactIds: readonly string[],
): Promise<Explanation[]> {
  if (artifactIds.length === 0) return [];
  const cases = await readArtifactCases(db, orgId, artifactIds);
  return paced(
    eachOf(cases, ({ template, reports, artifact }) => explainArtifactInSteps(template, reports, artifact)),
  );
}

/**
 * Adds to artifacts their states as artifacts: by the stored verdicts of their trails, without a statement, and in one
 * statement for those that lost their names.
 */
export async function withStates<Row extends KeptVerdict & { artifact_id: string }>(
  db: Executor,
  orgId: string,
  rows: readonly Row[],
): Promise<(Row & { compliance_state: ComplianceState })[]> {
  const replaced = rows.filter((row) => keptState(row) === undefined).map(({ artifact_id }) => artifact_id);
  const states = await judgeArtifacts(db, orgId, replaced);
  const judged = new Map(zip(replaced, states));
  return rows.map((row) => ({
    ...row,
    compliance_state: keptState(row) ?? present(judged.get(row.artifact_id), "it was judged just now"),
  }));
}

/** What a trail is judged by. */
export interface JudgeableTrail {
  trail_id: string;
  template: Template;
  template_id: string;
  reports: TrailReports;
  /** When the trail itself was last judged anew. */
  evaluated_at: Timestamp;
}

/**
 * Reads what explains the verdict on a trail; undefined when there is none with this id. One statement or two, at a cost that
 * does not grow with how often the same was reported.
 */
export async function findExplainedTrail(
  db: Executor,
  orgId: string,
  trailId: string,
): Promise<JudgeableTrail | undefined> {
  const found = await findExplainedCase(db, orgId, trailId);
  if (found === undefined) return undefined;
  const { trail_id, template_id, artifacts, attestations } = found;
  const template = (await templatesOf(orgId, [found]))(found.template);
  const evaluated_at = found.evaluated_at ?? found.last_modified_at;
  return { trail_id, template, template_id, reports: { artifacts, attestations }, evaluated_at };
}

/** Judges trails anew, one after the other, of which nobody must be reporting to any. @returns the ids of those that are stored with another state. */
export async function findMisjudged(
  db: Executor,
  orgId: string,
  trailIds: readonly string[],
): Promise<string[]> {
  const stored = new Map(
    (await listStates(db, orgId, trailIds)).map(({ trail_id, state }) => [trail_id, state]),
  );
  const misjudged: string[] = [];
  for (const id of trailIds) {
    const cases = await listCases(db, orgId, [id]);
    const [verdict] = await judgeCases(orgId, cases, { kind: "trail" });
    if (verdict?.state !== stored.get(id)) misjudged.push(id);
  }
  return misjudged;
}
