import {
  type BuiltArtifact,
  commitLeadTime,
  type DeployedArtifact,
  deploymentDiff,
  type DeploymentDiff,
} from "./deployment.ts";
import type { JudgedArtifact } from "./judge.ts";
import { type FlowFact, shownCommit, type SnapshotFlow } from "./provenance.ts";

/** An artifact in a flow, whose predecessor is looked for. */
export interface LineageKey {
  flow_id: string;
  template_reference_name: string;
  fingerprint: string;
}

/** An artifact that ran before in an environment under the same flow and template name. */
export interface Predecessor {
  name: string;
  fingerprint: string;
  trail_name: string | null;
  git_commit: string | null;
  commit_url: string | null;
  compliance_state: string | null;
}

/** Writes a key for an artifact in a flow, as it is looked for in what ran before. */
export function lineageText({ flow_id, template_reference_name, fingerprint }: LineageKey): string {
  return `${flow_id} ${template_reference_name} ${fingerprint}`;
}

function built(fact: FlowFact): BuiltArtifact {
  const { flow_name, trail_name, template_reference_name, git_commit, commit_url, compliance_state } = fact;
  return { flow_name, trail_name, template_reference_name, git_commit, commit_url, compliance_state };
}

function deployed(
  fact: FlowFact,
  predecessor: Predecessor,
  isRunning: ReadonlySet<string>,
): DeployedArtifact {
  const { name, fingerprint, ...flow } = predecessor;
  const { flow_name, template_reference_name } = fact;
  return {
    name,
    fingerprint,
    running: isRunning.has(fingerprint),
    flows: [{ ...flow, flow_name, template_reference_name }],
  };
}

/** Everything that an artifact is compared with to find what it came after. */
interface DeploymentHistory {
  /** Flows of this artifact as it ran until now, by `deploymentText`; empty when it has just started. */
  before: ReadonlyMap<string, SnapshotFlow>;
  /** By `lineageText`. */
  predecessors: ReadonlyMap<string, Predecessor>;
  /** Fingerprints of everything that runs now. */
  running: ReadonlySet<string>;
}

/** Writes a key for a flow of one artifact. */
function deploymentText({ flow_id, template_reference_name }: Omit<LineageKey, "fingerprint">): string {
  return `${flow_id} ${template_reference_name}`;
}

/** Indexes the flows that an artifact had, by `deploymentText`. */
export function flowsBefore(flows: readonly SnapshotFlow[]): Map<string, SnapshotFlow> {
  return new Map(flows.map((flow) => [deploymentText(flow), flow]));
}

/** Finds the flow if an artifact had it already. */
export function sameBefore(
  fact: FlowFact,
  before: ReadonlyMap<string, SnapshotFlow>,
): SnapshotFlow | undefined {
  return before.get(deploymentText(fact));
}

function diffOf(fact: FlowFact, history: DeploymentHistory): DeploymentDiff | null {
  const before = sameBefore(fact, history.before);
  if (before !== undefined) {
    const diff = before.deployment_diff;
    // What it followed stays; whether that still runs may change.
    return diff === null
      ? null
      : { ...diff, previous_running: history.running.has(diff.previous_fingerprint) };
  }
  const predecessor = history.predecessors.get(lineageText(fact));
  if (predecessor === undefined) return null;
  return deploymentDiff(fact.fingerprint, built(fact), [deployed(fact, predecessor, history.running)]);
}

/** Lists the flows of an artifact as the record keeps them, in the order of its facts. */
export function snapshotFlows(
  { facts, running }: JudgedArtifact,
  history: DeploymentHistory,
): SnapshotFlow[] {
  return facts.map((fact) => {
    const { compliance_state } = fact;
    return {
      flow_id: fact.flow_id,
      trail_id: fact.trail_id,
      artifact_id: fact.artifact_id,
      repo_id: fact.repo_id,
      flow_name: fact.flow_name,
      trail_name: fact.trail_name,
      template_reference_name: fact.template_reference_name,
      git_commit: fact.git_commit,
      commit_url: fact.commit_url,
      git_commit_info: shownCommit(fact.git_commit_info),
      deployment_diff: diffOf(fact, history),
      commit_lead_time: commitLeadTime(running.creationTimestamp, fact.git_commit_info?.timestamp ?? null),
      artifact_compliance_in_flow: compliance_state === "COMPLIANT",
      compliance_state,
    };
  });
}
