import type { Occurrence } from "../../../../domain/notifications/occurrence.ts";
import type { PolicyVersion } from "../../../../domain/policy/evaluation/model.ts";
import {
  byPlace,
  countCompliance,
  eventKind,
  type EventKind,
  isNewSnapshot,
  type Place,
  placeOf,
} from "../../../../domain/snapshot/annotate.ts";
import {
  concludeRuntime,
  type FailingArtifact,
  failedPolicies,
  judgedBy,
  judgedBySamePolicies,
  type RuntimeJudge,
  runtimeJudge,
  type RuntimeRules,
} from "../../../../domain/snapshot/judge.ts";
import { type KeptArtifact, planJudging } from "../../../../domain/snapshot/judging-plan.ts";
import { movesIn, type SnapshotNews, turnIn } from "../../../../domain/snapshot/occurrences.ts";
import { artifactKey, type RunningArtifact } from "../../../../domain/snapshot/running.ts";
import type {
  AnnotatedArtifact,
  ConfirmedVersion,
  SnapshotPlan,
} from "../../../../domain/snapshot/versions.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { wireId } from "../../../../lib/ids.ts";
import { sorted, type Steps } from "../../../../lib/steps.ts";
import { zip } from "../../../../lib/zip.ts";
import type { OpenSnapshot, WholeSnapshot } from "./record-store.ts";
import type { EarlierVersion, SnapshotCause, Target } from "./targets.ts";

/** An artifact to judge, or one that has exited. */
export interface DraftItem {
  draft: Draft;
  fingerprint: string;
  /** Undefined: it has exited. */
  running?: RunningArtifact;
  /** The version it had until now. */
  version?: number;
}

type Rules = Pick<RuntimeRules, "allowed"> & { policies: readonly PolicyVersion[] };

/** A snapshot in the making: artifacts are added one after the other, in the order in which new versions are numbered. */
export class Draft {
  readonly target: Target;
  readonly rules: Rules;
  readonly judge: RuntimeJudge;
  /** Fingerprints of everything that runs now. */
  readonly running: ReadonlySet<string>;
  readonly confirmed: ConfirmedVersion[] = [];
  readonly occurrences: Occurrence[] = [];
  readonly news: SnapshotNews;
  artifact_count: number;
  /** How much was written already. */
  written = { rows: 0, events: 0 };
  items: DraftItem[] = [];
  readonly #kinds: Record<EventKind, number> = { started: 0, exited: 0, changed: 0, verdict: 0 };
  #isNew = false;
  readonly #ended: number[] = [];
  readonly #shown: (Place & { id: number })[] = [];
  readonly #failing = new Map<string, FailingArtifact>();
  readonly #counts = { true: 0, false: 0, null: 0 };
  #unproven = 0;

  constructor(target: Target, rules: Rules, at: Timestamp) {
    const { environment, members, running } = target;
    this.target = target;
    this.rules = rules;
    this.judge = runtimeJudge({ ...rules, ...(members === undefined ? {} : { members }) });
    this.running = new Set(running.map(({ fingerprint }) => fingerprint));
    this.artifact_count = environment.artifact_count;
    this.news = {
      environment: { id: environment.id, name: environment.name },
      // The order of snapshots is that of their times, whatever the machine's clock does.
      at: Math.max(at, environment.latest_at ?? 0),
      snapshot: { index: environment.snapshot_count + 1, compliant: null },
    };
  }

  /** Finds what has to be judged, and keeps the rest as it was. Call it once, first. */
  *open(): Steps<void> {
    const { summaries, environment, running, earlier } = this.target;
    const then = new Set(summaries?.map(({ fingerprint }) => fingerprint));
    const isReliable =
      summaries !== undefined && environment.judged_by === (yield* judgedBy(this.rules, then));
    const plan = isReliable ? yield* planJudging(running, summaries) : undefined;
    for (const [key, kept] of plan?.kept ?? []) this.#keep(key, kept);
    yield;
    const toJudge = yield* sorted(
      (plan?.toJudge ?? running).map((artifact) => ({ place: placeOf(artifact), artifact })),
      (left, right) => byPlace(left.place, right.place),
    );
    const versions = new Map(earlier.map((version) => [artifactKey(version), version]));
    yield;
    for (const { artifact } of toJudge) {
      const version = versions.get(artifactKey(artifact))?.id;
      const { fingerprint } = artifact;
      this.items.push({ draft: this, fingerprint, running: artifact, ...(version && { version }) });
    }
    for (const artifact of running) versions.delete(artifactKey(artifact));
    yield;
    yield* this.#addGone([...versions.values()]);
  }

  #keep(key: string, { version: id, running, compliant, is_unproven, failing }: KeptArtifact): void {
    this.#shown.push({ ...placeOf(running, unchanged), id });
    this.#counts[`${compliant}`] += 1;
    if (is_unproven) this.#unproven += 1;
    if (failing.size > 0) this.#failing.set(key, { version: id, policies: failing });
  }

  *#addGone(gone: readonly EarlierVersion[]): Steps<void> {
    const placed = gone.map(({ id, name, fingerprint, started }) => ({
      ...placeOf({ name, fingerprint, creationTimestamp: started() }),
      id,
    }));
    for (const { id: version, fingerprint } of yield* sorted(placed, byPlace))
      this.items.push({ draft: this, fingerprint, version });
    if (gone.length > 0) this.#isNew = true;
  }

  /** Says whether there is anything to record: always, but for a report that brings nothing new. */
  get isWorthRecording(): boolean {
    const { report, environment } = this.target;
    return report === null || environment.snapshot_count === 0 || this.#isNew;
  }

  /** Adds what became of one artifact. */
  add(annotated: readonly AnnotatedArtifact[], plan: SnapshotPlan): void {
    for (const [{ artifact, annotation }, id] of zip(annotated, plan.artifacts)) {
      this.#shown.push({ ...placeOf(artifact, annotation), id });
      const failed = artifact.judged === undefined ? undefined : failedPolicies(artifact.judged);
      if (failed !== undefined && failed.size > 0)
        this.#failing.set(artifactKey(artifact), { version: id, policies: failed });
      if (artifact.judged?.provenance.length === 0) this.#unproven += 1;
    }
    const counts = countCompliance(annotated);
    for (const verdict of ["true", "false", "null"] as const) this.#counts[verdict] += counts[verdict];
    this.#isNew ||= isNewSnapshot(annotated);
    for (const { type } of plan.versions) if (type !== "unchanged") this.#kinds[eventKind(type)] += 1;
    this.#ended.push(...plan.ended);
    this.confirmed.push(...plan.confirmed);
    this.occurrences.push(...movesIn(this.news, annotated));
    this.artifact_count = plan.artifact_count;
  }

  /** Writes what there is to say of all artifacts together, as JSON text of a `WholeSnapshot`. Call it when all were added. */
  *conclude(cause: SnapshotCause): Steps<string> {
    const { environment, running, members, report } = this.target;
    const { policies } = this.rules;
    const isFirst = environment.snapshot_count === 0;
    const verdict = yield* concludeRuntime({
      running,
      failing: this.#failing,
      policies,
      ...(members === undefined ? {} : { members }),
    });
    const { news } = this;
    news.snapshot.compliant = verdict.state;
    this.occurrences.push(...turnIn(news, environment.state));
    const shown = yield* sorted(this.#shown, byPlace);
    const whole: WholeSnapshot = {
      ...this.opening,
      compliant: verdict.state,
      type: environment.type,
      cause,
      counts: this.#counts,
      running_count: running.length,
      unproven_count: this.#unproven,
      allowed_count: running.filter(({ fingerprint }) => this.rules.allowed.has(fingerprint)).length,
      artifacts: shown.map(({ id }) => id),
      ended: this.#ended,
      confirmed: this.confirmed,
      events: Object.values(this.#kinds).reduce((total, count) => total + count),
      kinds: this.#kinds,
      was_compliant: isFirst ? null : environment.state,
      has_policies: policies.length > 0,
      policies_changed: !isFirst && !judgedBySamePolicies(environment.judged_by, policies),
      artifact_count: this.artifact_count,
      judged_by: yield* judgedBy(this.rules, this.running),
      report_digest: report?.digest ?? null,
      seen_seq: report?.seen_seq ?? null,
      report_gaps: report?.report_gaps ?? null,
      learned_limit: report?.learned_limit ?? null,
    };
    yield;
    const applied: string[] = [];
    for (const policy of verdict.applied_policies) {
      applied.push(JSON.stringify({ ...policy, id: wireId(policy.id) }));
      yield;
    }
    const failing: string[] = [];
    for (const versions of verdict.failing_versions) {
      failing.push(JSON.stringify(versions));
      yield;
    }
    const head = JSON.stringify(whole).slice(0, -1);
    return `${head},"applied_policies":[${applied.join(",")}],"failing_versions":[${failing.join(",")}]}`;
  }

  /** What versions of the snapshot need to be written. */
  get opening(): OpenSnapshot {
    const { environment, snapshot, at } = this.news;
    const { rows, events } = this.written;
    const place = { environment_id: environment.id, index: snapshot.index, at_seconds: at };
    return { ...place, rows_before: rows, own_events_before: events };
  }
}

const unchanged = { type: "unchanged", was: 0, now: 0 } as const;
