import { wireId } from "../../lib/ids.ts";
import { sorted, type Steps } from "../../lib/steps.ts";
import type { PolicyVersion } from "../../domain/policy/evaluation/model.ts";
import {
  byPlace,
  countCompliance,
  isNewSnapshot,
  type Place,
  placeOf,
} from "../../domain/snapshot/annotate.ts";
import {
  concludeRuntime,
  failedPolicies,
  judgedBy,
  type RuntimeJudge,
  runtimeJudge,
  type RuntimeRules,
} from "../../domain/snapshot/judge.ts";
import { movesIn, type SnapshotNews, turnIn } from "../../domain/snapshot/occurrences.ts";
import { artifactKey, type RunningArtifact } from "../../domain/snapshot/running.ts";
import { type Settled, settle } from "../../domain/snapshot/settle.ts";
import type { AnnotatedArtifact, ConfirmedVersion, SnapshotPlan } from "../../domain/snapshot/versions.ts";
import type { Occurrence } from "../../domain/notifications/occurrence.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { WholeSnapshot } from "./record-store.ts";
import type { RanVersion, SnapshotCause, Target } from "./targets.ts";

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

/** A snapshot in the making: takes one artifact after the other, in the order in which new versions are numbered. */
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
  #taken = 0;
  #events = 0;
  #isNew = false;
  readonly #ended: number[] = [];
  readonly #shown: (Place & { id: number })[] = [];
  readonly #failing = new Map<string, ReadonlySet<string>>();
  readonly #counts = { true: 0, false: 0, null: 0 };

  constructor(target: Target, rules: Rules, at: Timestamp) {
    const { standing, members, running } = target;
    this.target = target;
    this.rules = rules;
    this.judge = runtimeJudge({ ...rules, ...(members === undefined ? {} : { members }) });
    this.running = new Set(running.map(({ fingerprint }) => fingerprint));
    this.artifact_count = standing.artifact_count;
    this.news = {
      environment: { id: standing.id, name: standing.name },
      // The order of snapshots is that of their times, whatever the machine's clock does.
      at: Math.max(at, standing.latest_at ?? 0),
      snapshot: { index: standing.snapshot_count + 1, compliant: null },
    };
  }

  /** Finds what has to be judged, and has the rest as it was. Call it once, first. */
  *open(): Steps<void> {
    const { briefs, standing, running, ran } = this.target;
    const isReliable = briefs !== undefined && standing.judged_by === judgedBy(this.rules);
    const parted = isReliable ? yield* settle(running, briefs) : undefined;
    for (const [key, settled] of parted?.settled ?? []) this.#keep(key, settled);
    yield;
    const open = yield* sorted(
      (parted?.open ?? running).map((artifact) => ({ place: placeOf(artifact), artifact })),
      (left, right) => byPlace(left.place, right.place),
    );
    const versions = new Map(ran.map((version) => [artifactKey(version), version]));
    yield;
    for (const { artifact } of open) {
      const version = versions.get(artifactKey(artifact))?.id;
      const { fingerprint } = artifact;
      this.items.push({ draft: this, fingerprint, running: artifact, ...(version && { version }) });
    }
    for (const artifact of running) versions.delete(artifactKey(artifact));
    yield;
    yield* this.#leave([...versions.values()]);
  }

  #keep(key: string, { version: id, running, compliant, failing }: Settled): void {
    this.#shown.push({ ...placeOf(running, unchanged), id });
    this.#counts[`${compliant}`] += 1;
    if (failing.size > 0) this.#failing.set(key, failing);
  }

  *#leave(gone: readonly RanVersion[]): Steps<void> {
    const placed = gone.map(({ id, name, fingerprint, started }) => ({
      ...placeOf({ name, fingerprint, creationTimestamp: started() }),
      id,
    }));
    for (const { id: version, fingerprint } of yield* sorted(placed, byPlace))
      this.items.push({ draft: this, fingerprint, version });
    if (gone.length > 0) this.#isNew = true;
  }

  /** Whether there is anything to record: always, but for a report that brings nothing new. */
  get isWorthIt(): boolean {
    const { report, standing } = this.target;
    return report === null || standing.snapshot_count === 0 || this.#isNew;
  }

  /** Whether every artifact was taken. */
  get isComplete(): boolean {
    return this.#taken === this.items.length;
  }

  /** Takes what became of one artifact. */
  take(annotated: readonly AnnotatedArtifact[], plan: SnapshotPlan): void {
    for (const [at, { artifact, annotation }] of annotated.entries()) {
      this.#shown.push({ ...placeOf(artifact, annotation), id: plan.artifacts[at]! });
      const failed = artifact.judged === undefined ? undefined : failedPolicies(artifact.judged);
      if (failed !== undefined && failed.size > 0) this.#failing.set(artifactKey(artifact), failed);
    }
    const counts = countCompliance(annotated);
    for (const verdict of ["true", "false", "null"] as const) this.#counts[verdict] += counts[verdict];
    this.#isNew ||= isNewSnapshot(annotated);
    this.#events += plan.versions.filter(({ type }) => type !== "unchanged").length;
    this.#ended.push(...plan.ended);
    this.confirmed.push(...plan.confirmed);
    this.occurrences.push(...movesIn(this.news, annotated));
    this.artifact_count = plan.artifact_count;
    this.#taken += 1;
  }

  /** What there is to say of all artifacts together: call it when all were taken. As JSON text of a `WholeSnapshot`. */
  *conclude(cause: SnapshotCause): Steps<string> {
    const { standing, running, members, report } = this.target;
    const { policies } = this.rules;
    const verdict = yield* concludeRuntime({
      running,
      failing: this.#failing,
      policies,
      ...(members === undefined ? {} : { members }),
    });
    const { news } = this;
    news.snapshot.compliant = verdict.state;
    this.occurrences.push(...turnIn(news, standing.state));
    const shown = yield* sorted(this.#shown, byPlace);
    const whole: WholeSnapshot = {
      ...this.opening,
      compliant: verdict.state,
      type: standing.type,
      cause,
      counts: this.#counts,
      artifacts: shown.map(({ id }) => id),
      ended: this.#ended,
      confirmed: this.confirmed,
      events: this.#events,
      artifact_count: this.artifact_count,
      judged_by: judgedBy(this.rules),
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
    return `${JSON.stringify(whole).slice(0, -1)},"applied_policies":[${applied.join(",")}]}`;
  }

  /** What versions of the snapshot need to be written. */
  get opening() {
    const { environment, snapshot, at } = this.news;
    const { rows, events } = this.written;
    const place = { environment_id: environment.id, index: snapshot.index, at_seconds: at };
    return { ...place, rows_before: rows, own_events_before: events };
  }
}

const unchanged = { type: "unchanged", was: 0, now: 0 } as const;
