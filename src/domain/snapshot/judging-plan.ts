import type { Steps } from "../../lib/steps.ts";
import { largerPieces, widePieces } from "../../lib/wide-json.ts";
import { failingPolicies } from "./annotate.ts";
import { artifactKey, type RunningArtifact } from "./running.ts";

/** A version of an artifact in the latest snapshot, as far as is needed to see that it still holds. */
export interface VersionSummary {
  /** Numbered within the environment. */
  id: number;
  name: string;
  fingerprint: string;
  compliant: boolean | null;
  /** See `runningPieces`. */
  running: string;
  /** Fingerprints of what ran before it. */
  follows: readonly string[];
  /** Null unless it does not comply. */
  findings: string | null;
  /** Whether no flow knows it. */
  is_unproven: boolean;
  /** Whether flows know something else of it than when its contents were last found to be right. */
  is_stale: boolean;
}

/** An artifact of which a new snapshot shows the version that the latest one shows. */
export interface KeptArtifact {
  /** Id of the version. */
  version: number;
  running: RunningArtifact;
  compliant: boolean | null;
  is_unproven: boolean;
  /** Names of the policies it does not comply with. */
  failing: ReadonlySet<string>;
}

/** What runs now, divided into what has to be judged and what need not. */
interface JudgingPlan {
  /** By `artifactKey`. */
  kept: Map<string, KeptArtifact>;
  toJudge: RunningArtifact[];
}

/** Writes where an artifact runs as the record keeps it, in pieces: many where it runs in many places. */
export function runningPieces({
  name: _name,
  fingerprint: _fingerprint,
  ...running
}: RunningArtifact): Generator<string> {
  return widePieces(running);
}

/** Lists fingerprints that have begun to run, or do no longer. */
function movedFingerprints(
  running: readonly RunningArtifact[],
  versions: readonly VersionSummary[],
): Set<string> {
  const now = new Set(running.map(({ fingerprint }) => fingerprint));
  const then = new Set(versions.map(({ fingerprint }) => fingerprint));
  return new Set([
    ...[...now].filter((fingerprint) => !then.has(fingerprint)),
    ...[...then].filter((fingerprint) => !now.has(fingerprint)),
  ]);
}

const none: ReadonlySet<string> = new Set();

/** Artifacts that are looked at before somebody else may do something, and characters that say where they run. */
const inOneGo = { artifacts: 100, length: 64 * 1024 };

/** Says whether an artifact runs as it did. Stops after every piece but the last. */
function* runsAsBefore(artifact: RunningArtifact, before: string): Steps<boolean> {
  let at = 0;
  for (const piece of largerPieces(runningPieces(artifact))) {
    if (at > 0) yield;
    if (!before.startsWith(piece, at)) return false;
    at += piece.length;
  }
  return at === before.length;
}

/** Names of failing policies, by findings: many artifacts have the same. */
type FailingBy = Map<string, ReadonlySet<string>>;

function failingIn(findings: string | null, known: FailingBy): ReadonlySet<string> {
  if (findings === null) return none;
  const failing = known.get(findings) ?? new Set(failingPolicies(findings));
  known.set(findings, failing);
  return failing;
}

function keptAs(
  running: RunningArtifact,
  { id, compliant, is_unproven, findings }: VersionSummary,
  known: FailingBy,
): KeptArtifact {
  return { version: id, running, compliant, is_unproven, failing: failingIn(findings, known) };
}

/**
 * Finds what has to be judged, and what need not: what runs as it did, of which flows know what they knew, while what ran
 * before it has neither begun nor ceased to run. The policies and the trusted artifacts have to be those of the latest
 * snapshot: then the verdict, and everything that is shown, would come out as they are in the record.
 */
export function* planJudging(
  running: readonly RunningArtifact[],
  versions: readonly VersionSummary[],
): Steps<JudgingPlan> {
  const known = new Map(versions.map((version) => [artifactKey(version), version]));
  yield;
  const moved = movedFingerprints(running, versions);
  const failingBy: FailingBy = new Map();
  const plan: JudgingPlan = { kept: new Map(), toJudge: [] };
  let length = 0;
  for (const [at, artifact] of running.entries()) {
    const key = artifactKey(artifact);
    const version = known.get(key);
    length += version?.running.length ?? 0;
    if (at % inOneGo.artifacts === 0 || length >= inOneGo.length) {
      yield;
      length = 0;
    }
    const holds =
      version !== undefined &&
      !version.is_stale &&
      !version.follows.some((fingerprint) => moved.has(fingerprint)) &&
      (yield* runsAsBefore(artifact, version.running));
    if (holds) plan.kept.set(key, keptAs(artifact, version, failingBy));
    else plan.toJudge.push(artifact);
  }
  return plan;
}
