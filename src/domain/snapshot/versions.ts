import type { Steps } from "../../lib/steps.ts";
import { type Annotated, annotate, type AnnotationType, type ComparedArtifact } from "./annotate.ts";
import {
  flowsBefore,
  lineageText,
  type LineageKey,
  type Predecessor,
  sameBefore,
  snapshotFlows,
} from "./flows-of.ts";
import type { JudgedArtifact } from "./judge.ts";
import { contentsPieces, printArtifact } from "./print.ts";
import type { FlowFact, SnapshotFlow } from "./provenance.ts";
import { artifactKey, type RunningArtifact } from "./running.ts";

/** An artifact as the latest snapshot has it. */
export interface StoredVersion extends ComparedArtifact {
  /** Numbered within the environment. */
  id: number;
  /** What its contents are compared by. */
  digest: string;
  /** What flows knew when that was last found to be right. */
  facts: string;
  flows: readonly SnapshotFlow[];
}

/** An artifact as the latest snapshot has it, as it runs now, or both. */
type ArtifactPair = ComparedArtifact &
  ({ judged: JudgedArtifact; stored?: StoredVersion } | { judged?: undefined; stored: StoredVersion });

export type AnnotatedArtifact = Annotated<ArtifactPair>;

/** Compares what runs now with what the latest snapshot has: in the order of what runs, then what has exited. */
export function compareVersions(
  before: readonly StoredVersion[],
  after: readonly JudgedArtifact[],
): AnnotatedArtifact[] {
  const known = new Map(before.map((stored) => [artifactKey(stored), stored]));
  return annotate(
    before.map<ArtifactPair>((stored) => ({ ...comparable(stored), stored })),
    after.map<ArtifactPair>((judged) => {
      const stored = known.get(artifactKey(judged));
      return { ...comparable(judged), judged, ...(stored === undefined ? {} : { stored }) };
    }),
  );
}

function comparable(artifact: ComparedArtifact): ComparedArtifact {
  const { name, fingerprint, creationTimestamp, compliant, provenance, findings } = artifact;
  return { name, fingerprint, creationTimestamp, compliant, provenance, findings };
}

/** Lists what has to be looked up: flows that an artifact did not have in the snapshot before. */
export function unknownLineage(before: StoredVersion | undefined, facts: readonly FlowFact[]): LineageKey[] {
  const flows = flowsBefore(before?.flows ?? []);
  return facts.filter((fact) => sameBefore(fact, flows) === undefined);
}

/** A row of the record: a new version of an artifact. */
export interface NewVersion {
  id: number;
  type: AnnotationType;
  was: number;
  now: number;
  /** The version that has exited, which it repeats; null for one with contents of its own. */
  repeats: number | null;
  name: string | null;
  fingerprint: string | null;
  compliant: boolean | null;
  running: Omit<RunningArtifact, "name" | "fingerprint"> | null;
  flows: SnapshotFlow[] | null;
  /** Of these, in their order. */
  flow_ids: string[] | null;
  provenance: readonly string[] | null;
  repo_ids: string[] | null;
  findings: string | null;
  digest: string | null;
  facts: string | null;
  follows: string[] | null;
  doc: string | null;
  /** What policies decided, which many documents have in common. */
  decisions: string | null;
}

/** An addition of a version to what has ever run in the environment. */
export interface LineageEntry extends LineageKey, Omit<Predecessor, "fingerprint"> {
  started: boolean;
}

/** A version whose contents are still right, by what flows know now. */
export interface ConfirmedVersion {
  id: number;
  facts: string;
}

/** A part of a snapshot as it is going to be written. */
export interface SnapshotPlan {
  /** Ids of versions, in the order of the artifacts. */
  artifacts: number[];
  versions: NewVersion[];
  /** Ids of versions that are not in it, or not as they were. */
  ended: number[];
  /** Versions that hold although flows know something else now. */
  confirmed: ConfirmedVersion[];
  lineage: LineageEntry[];
  /** The highest id of a version. */
  artifact_count: number;
}

interface PlanInput {
  annotated: readonly AnnotatedArtifact[];
  /** Fingerprints of everything that runs now, in other parts too. */
  running: ReadonlySet<string>;
  predecessors: ReadonlyMap<string, Predecessor>;
  /** The highest id until now. */
  artifact_count: number;
  /** Of the contents of a version, in pieces. */
  digestOf: (contents: Iterable<string>) => Steps<string>;
}

const nothingRepeated = { repeats: null };
const nothingNew = {
  name: null,
  fingerprint: null,
  compliant: null,
  running: null,
  flows: null,
  flow_ids: null,
  provenance: null,
  repo_ids: null,
  findings: null,
  digest: null,
  facts: null,
  follows: null,
  doc: null,
  decisions: null,
};

type Contents = Omit<NewVersion, "id" | "type" | "was" | "now" | "repeats">;

function* contentsOf(judged: JudgedArtifact, flows: SnapshotFlow[], digest: string): Steps<Contents> {
  const { name, fingerprint, ...running } = judged.running;
  return {
    name,
    fingerprint,
    compliant: judged.compliant,
    running,
    flows,
    flow_ids: flows.map(({ flow_id }) => flow_id),
    provenance: judged.provenance,
    repo_ids: [...new Set(flows.flatMap(({ repo_id }) => repo_id ?? []))],
    findings: judged.findings,
    digest,
    facts: judged.facts_text,
    follows: [
      ...new Set(flows.flatMap(({ deployment_diff }) => deployment_diff?.previous_fingerprint ?? [])),
    ],
    ...(yield* printArtifact(judged, flows)),
  };
}

function lineageOf(flows: readonly SnapshotFlow[], judged: JudgedArtifact, started: boolean): LineageEntry[] {
  const { name, fingerprint } = judged;
  return flows.map((flow) => ({
    flow_id: flow.flow_id,
    template_reference_name: flow.template_reference_name,
    fingerprint,
    name,
    trail_name: flow.trail_name,
    git_commit: flow.git_commit,
    commit_url: flow.commit_url,
    compliance_state: flow.compliance_state,
    started,
  }));
}

/** Leaves each entry once: one fingerprint may run under several names. */
function distinctLineage(entries: readonly LineageEntry[]): LineageEntry[] {
  const distinct = new Map<string, LineageEntry>();
  for (const entry of entries) {
    const key = lineageText(entry);
    distinct.set(key, { ...entry, started: entry.started || distinct.get(key)?.started === true });
  }
  return [...distinct.values()];
}

/**
 * Finds what has to be written so that there is a snapshot with these artifacts in it. Versions of which nothing that
 * is shown has changed are used again.
 */
export function* planSnapshot(input: PlanInput): Steps<SnapshotPlan> {
  const { annotated, running, predecessors, artifact_count, digestOf } = input;
  const plan: SnapshotPlan = {
    artifacts: [],
    versions: [],
    ended: [],
    confirmed: [],
    lineage: [],
    artifact_count,
  };
  const add = (version: Omit<NewVersion, "id">): void => {
    plan.artifact_count += 1;
    plan.versions.push({ id: plan.artifact_count, ...version });
    plan.artifacts.push(plan.artifact_count);
  };
  for (const { artifact, annotation } of annotated) {
    const { judged, stored: old } = artifact;
    if (judged === undefined) {
      add({ ...annotation, ...nothingNew, repeats: old.id });
      plan.ended.push(old.id);
      continue;
    }
    const flows = snapshotFlows(judged, { before: flowsBefore(old?.flows ?? []), predecessors, running });
    const digest = yield* digestOf(contentsPieces(judged, flows));
    yield;
    if (annotation.type === "unchanged" && old?.digest === digest) {
      plan.artifacts.push(old.id);
      if (old.facts !== judged.facts_text) plan.confirmed.push({ id: old.id, facts: judged.facts_text });
      continue;
    }
    if (old !== undefined) plan.ended.push(old.id);
    add({ ...annotation, ...nothingRepeated, ...(yield* contentsOf(judged, flows, digest)) });
    plan.lineage.push(...lineageOf(flows, judged, old === undefined));
  }
  return { ...plan, lineage: distinctLineage(plan.lineage) };
}
