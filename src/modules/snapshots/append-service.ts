import type { Tx } from "../../db/connect.ts";
import { countCompliance, isNewSnapshot } from "../../domain/snapshot/annotate.ts";
import { wantedAttestations } from "../../domain/policy/evaluation/rules.ts";
import {
  judgedBy,
  judgeRuntime,
  type RuntimeCase,
  type RuntimeVerdict,
} from "../../domain/snapshot/judge.ts";
import { occurrencesOf } from "../../domain/snapshot/occurrences.ts";
import type { RunningArtifact } from "../../domain/snapshot/running.ts";
import { type Parted, settle, type VersionBrief } from "../../domain/snapshot/settle.ts";
import {
  type AnnotatedArtifact,
  compareVersions,
  planSnapshot,
  type SnapshotPlan,
  type StoredVersion,
  unknownLineage,
} from "../../domain/snapshot/versions.ts";
import type { Predecessor } from "../../domain/snapshot/flows-of.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { sha256 } from "../../lib/hash.ts";
import { wireId } from "../../lib/ids.ts";
import { allowListed } from "../allowlists/service.ts";
import type { Org } from "../environments/find-service.ts";
import { notify } from "../notifications/service.ts";
import { appliedPolicies } from "../policies/applied-service.ts";
import { getFacts } from "./facts-service.ts";
import { confirmVersions } from "./standing-store.ts";
import {
  insertSnapshots,
  listPredecessors,
  listRunningVersions,
  listVersions,
  type NewSnapshot,
  type Standing,
} from "./timeline-store.ts";

/** Why a snapshot was appended. */
export type SnapshotCause = "report" | "policy" | "allow-list" | "members";

/** An environment with what runs there now. Its row is locked. */
export interface Target {
  standing: Standing;
  running: readonly RunningArtifact[];
  /** What its members say, of a logical one. */
  members?: RuntimeCase["members"];
  /** What ran until now, in brief: what of it still holds is not judged again. */
  briefs?: readonly VersionBrief[];
  /** What the next report is recognised by; null when no report led here. */
  report: NewSnapshot["report"];
}

type Rules = Pick<RuntimeCase, "policies" | "allowed">;

/** What there is to judge in one environment. */
interface Opened extends Rules, Omit<Parted, "replaced"> {
  target: Target;
  /** Versions of what has to be judged, and of what has exited. */
  before: readonly StoredVersion[];
}

interface Compared extends Pick<Opened, "target" | "before"> {
  verdict: RuntimeVerdict;
  judged_by: string;
  annotated: AnnotatedArtifact[];
}

/** By what the artifacts of environments are judged, by their ids: two statements. */
async function rulesOf(tx: Tx, org: Org, ids: readonly string[]): Promise<(id: string) => Rules> {
  const policies = await appliedPolicies(tx, org.id, ids);
  const allowed = await allowListed(tx, org.id, ids);
  return (id) => ({ policies: policies.get(id) ?? [], allowed: allowed.get(id) ?? new Set() });
}

/** What a report leaves to judge; undefined when nothing that was judged before can be relied on. */
async function openReport(tx: Tx, org: Org, target: Target, rules: Rules): Promise<Opened | undefined> {
  const { standing, running, briefs } = target;
  if (briefs === undefined || standing.judged_by !== judgedBy(rules)) return undefined;
  const { replaced, ...parted } = settle(running, briefs);
  if (parted.settled.size === 0) return undefined;
  const before = replaced.length === 0 ? [] : await listVersions(tx, org.id, standing.id, replaced);
  return { target, before, ...rules, ...parted };
}

/** What there is to judge in several environments: three statements. */
async function openTargets(tx: Tx, org: Org, targets: readonly Target[]): Promise<Opened[]> {
  const ids = targets.map(({ standing }) => standing.id);
  const rules = await rulesOf(tx, org, ids);
  const [only, ...others] = targets;
  const report = others.length > 0 ? undefined : await openReport(tx, org, only!, rules(only!.standing.id));
  if (report !== undefined) return [report];
  const versions = await listRunningVersions(tx, org.id, ids);
  return targets.map((target) => {
    const { standing, running } = target;
    const before = versions.get(standing.id) ?? [];
    return { target, before, settled: new Map(), open: [...running], ...rules(standing.id) };
  });
}

/** What flows know of everything there is to judge, as far as the policies ask for it. */
function factsOf(tx: Tx, org: Org, opened: readonly Opened[]) {
  const fingerprints = new Set(opened.flatMap(({ open }) => open.map(({ fingerprint }) => fingerprint)));
  fingerprints.delete("");
  const applied = opened.flatMap(({ policies }) => policies.map(({ policy }) => policy));
  return getFacts(tx, org.id, [...fingerprints], applied.length === 0 ? "none" : wantedAttestations(applied));
}

/** Judges and compares what runs in several environments: four statements. */
async function compareTargets(tx: Tx, org: Org, targets: readonly Target[]): Promise<Compared[]> {
  const opened = await openTargets(tx, org, targets);
  const facts = await factsOf(tx, org, opened);
  return opened.map(({ target, before, settled, policies, allowed }) => {
    const { running, members } = target;
    const rules = { policies, allowed };
    const verdict = judgeRuntime({
      running,
      settled,
      facts,
      ...rules,
      ...(members === undefined ? {} : { members }),
    });
    const annotated = compareVersions(before, verdict.artifacts, settled.values());
    return { target, before, verdict, judged_by: judgedBy(rules), annotated };
  });
}

async function predecessorsOf(
  tx: Tx,
  org: Org,
  compared: readonly Compared[],
): Promise<Map<string, Map<string, Predecessor>>> {
  const wanted = compared.flatMap(({ target, before, verdict }) =>
    unknownLineage(before, verdict.artifacts).map(({ flow_id, template_reference_name, fingerprint }) => ({
      environment_id: target.standing.id,
      flow_id,
      template_reference_name,
      fingerprint,
    })),
  );
  return wanted.length === 0 ? new Map() : listPredecessors(tx, org.id, wanted);
}

function digestOf(contents: string): string {
  return sha256(contents).toString("base64");
}

function planOf(
  { target, before, annotated }: Compared,
  predecessors: ReadonlyMap<string, Predecessor>,
): SnapshotPlan {
  const { artifact_count } = target.standing;
  return planSnapshot({ before, annotated, predecessors, artifact_count, digestOf });
}

function newSnapshot(
  compared: Compared,
  made: { cause: SnapshotCause; now: Timestamp; predecessors: ReadonlyMap<string, Predecessor> },
): NewSnapshot {
  const { target, verdict, judged_by, annotated } = compared;
  const { standing, report } = target;
  return {
    environment_id: standing.id,
    index: standing.snapshot_count + 1,
    // The order of snapshots is that of their times, whatever the machine's clock does.
    at: Math.max(made.now, standing.latest_at ?? 0),
    state: verdict.state,
    type: standing.type,
    cause: made.cause,
    counts: countCompliance(annotated),
    applied_policies: verdict.applied_policies.map((policy) => ({ ...policy, id: wireId(policy.id) })),
    plan: planOf(compared, made.predecessors),
    judged_by,
    report,
  };
}

/** Notes what holds in an environment that gets no new snapshot, so that it is not looked at again. */
async function confirm(tx: Tx, org: Org, compared: Compared): Promise<void> {
  const { confirmed } = planOf(compared, new Map());
  if (confirmed.length > 0) await confirmVersions(tx, org.id, compared.target.standing.id, confirmed);
}

/** Whether there is anything to record: always, but for a report that brings nothing new. */
function isWorthIt({ target, annotated }: Compared): boolean {
  return target.report === null || target.standing.snapshot_count === 0 || isNewSnapshot(annotated);
}

/**
 * Judges what runs in these environments, and appends a snapshot to each, unless a report brought nothing new. What
 * actions want to be told of is queued in the same transaction. A handful of statements, whatever the numbers of
 * environments and artifacts. Does not look at the logical environments around: see `refreshGroups`.
 * @returns the snapshots that were appended.
 */
export async function appendSnapshots(
  tx: Tx,
  org: Org,
  { cause, targets, at: now }: { cause: SnapshotCause; targets: readonly Target[]; at: Timestamp },
): Promise<NewSnapshot[]> {
  if (targets.length === 0) return [];
  const all = await compareTargets(tx, org, targets);
  const compared = all.filter(isWorthIt);
  for (const each of all) if (!compared.includes(each)) await confirm(tx, org, each);
  if (compared.length === 0) return [];
  const predecessors = await predecessorsOf(tx, org, compared);
  const snapshots = compared.map((each) =>
    newSnapshot(each, {
      cause,
      now,
      predecessors: predecessors.get(each.target.standing.id) ?? new Map(),
    }),
  );
  await insertSnapshots(tx, org.id, snapshots);
  const occurrences = compared.flatMap(({ target, annotated }, at) => {
    const { id, name, state } = target.standing;
    const { index, at: moment, state: present } = snapshots[at]!;
    const environment = { id, name };
    return occurrencesOf({ environment, index, at: moment, state: present, state_before: state, annotated });
  });
  if (occurrences.length > 0) await notify(tx, org.id, occurrences);
  return snapshots;
}
