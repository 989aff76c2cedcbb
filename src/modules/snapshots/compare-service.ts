import type { Tx } from "../../db/connect.ts";
import { requireJudgeable } from "../../domain/judging.ts";
import { wantedAttestations } from "../../domain/policy/evaluation/rules.ts";
import {
  judgedBy,
  judgeRuntime,
  type RuntimeCase,
  type RuntimeVerdict,
} from "../../domain/snapshot/judge.ts";
import type { RunningArtifact } from "../../domain/snapshot/running.ts";
import { type Parted, settle, type VersionBrief } from "../../domain/snapshot/settle.ts";
import {
  type AnnotatedArtifact,
  compareVersions,
  type StoredVersion,
} from "../../domain/snapshot/versions.ts";
import { allowListed } from "../allowlists/service.ts";
import type { Org } from "../environments/find-service.ts";
import { appliedPolicies } from "../policies/applied-service.ts";
import { getFacts } from "./facts-service.ts";
import { listRunningVersions, listVersions, type NewSnapshot, type Standing } from "./timeline-store.ts";

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

/** What was found out about what runs in an environment. */
export interface Compared extends Pick<Opened, "target" | "before"> {
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

/** @throws TooMuchToJudge for the first target that asks for too much. */
function requireAllJudgeable(opened: readonly Opened[], facts?: Awaited<ReturnType<typeof factsOf>>): void {
  for (const { target, policies, open } of opened) {
    const flows = open.map(({ fingerprint }) => Math.max(1, facts?.get(fingerprint)?.length ?? 0));
    requireJudgeable(target.standing.name, {
      policies,
      facts: flows.reduce((sum, count) => sum + count, 0),
      mostFlows: flows.reduce((most, count) => Math.max(most, count), 0),
      names: open.reduce((sum, { name }) => sum + name.length, 0),
    });
  }
}

/** Judges and compares what runs in several environments: four statements. */
export async function compareTargets(tx: Tx, org: Org, targets: readonly Target[]): Promise<Compared[]> {
  const opened = await openTargets(tx, org, targets);
  requireAllJudgeable(opened);
  const facts = await factsOf(tx, org, opened);
  requireAllJudgeable(opened, facts);
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
