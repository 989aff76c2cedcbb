import { createHash, type Hash } from "node:crypto";

import type { Tx } from "../../../../db/connect.ts";
import {
  isTooMuchTogether,
  type JudgingSize,
  measureJudging,
  requireJudgeable,
  TooMuchToJudge,
} from "../../../../domain/judging.ts";
import { type WantedAttestations, wantedAttestations } from "../../../../domain/policy/evaluation/rules.ts";
import type { Org } from "../../../../domain/principal.ts";
import type { Predecessor } from "../../../../domain/snapshot/flows-of.ts";
import type { FlowFact } from "../../../../domain/snapshot/provenance.ts";
import {
  compareVersions,
  planSnapshot,
  type StoredVersion,
  unknownLineage,
} from "../../../../domain/snapshot/versions.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { sha256 } from "../../../../lib/hash.ts";
import { paced, type Steps } from "../../../../lib/steps.ts";
import { largerPieces } from "../../../../lib/wide-json.ts";
import { notify } from "../../../notices/notifications/service.ts";
import { allowListed } from "../../rules/allowlists/service.ts";
import { appliedPolicies } from "../../rules/policies/applied-service.ts";
import { chunkLimits, chunksOf } from "./chunks.ts";
import { Draft, type DraftItem } from "./draft.ts";
import { getFacts, getFactsUpTo } from "./facts-service.ts";
import { countFlows } from "./facts-store.ts";
import { RecordWriter } from "./record-writer.ts";
import type { SnapshotCause, Target } from "./targets.ts";
import { listPredecessors, listVersions, updateConfirmed, versionText } from "./version-store.ts";

/** Environments of which snapshots are to be recorded. */
export interface Recording {
  cause: SnapshotCause;
  targets: readonly Target[];
  at: Timestamp;
  /** Called for each environment in which there is more to judge than is judged at once. When it returns, the record stays. */
  onTooMuch: (problem: TooMuchToJudge) => void;
  /** Called when together they are more than one may be: nothing is recorded then. Without it they are judged all the same. */
  onTooMuchTogether?: (environmentIds: readonly string[]) => Promise<void>;
}

/** A snapshot that was appended. */
interface AppendedSnapshot {
  environment_id: string;
  index: number;
}

/** Gives the fingerprints of everything that runs in an environment, and of what its latest snapshot is compared by. */
function* fingerprintsIn({ running, summaries = [] }: Target): Generator<string> {
  for (const { fingerprint } of running) yield fingerprint;
  for (const { fingerprint } of summaries) yield fingerprint;
}

/** Begins a draft for each target, with what there is to judge: two statements, in one round trip, and more for thousands of artifacts. */
async function beginDrafts(tx: Tx, org: Org, { targets, at }: Recording): Promise<Draft[]> {
  const ids = targets.map(({ environment }) => environment.id);
  const [policies, allowed] = await Promise.all([
    appliedPolicies(tx, org.id, ids),
    allowListed(
      tx,
      org.id,
      new Map(targets.map((target) => [target.environment.id, fingerprintsIn(target)])),
    ),
  ]);
  const drafts: Draft[] = [];
  for (const target of targets) {
    const { id } = target.environment;
    const rules = { policies: policies.get(id) ?? [], allowed: allowed.get(id) ?? new Set<string>() };
    const draft = new Draft(target, rules, at);
    await paced(draft.open());
    drafts.push(draft);
  }
  return drafts;
}

/** Finds which attestations the policies of these items ask for. */
function wantedBy(items: readonly DraftItem[]): WantedAttestations | "none" {
  const drafts = new Set(items.map(({ draft }) => draft));
  const policies = [...drafts].flatMap(({ rules }) => rules.policies.map(({ policy }) => policy));
  return policies.length === 0 ? "none" : wantedAttestations(policies);
}

/** Lists the fingerprints of what runs, those that are known. */
function fingerprintsOf(items: readonly DraftItem[]): string[] {
  const fingerprints = new Set(items.flatMap(({ running, fingerprint }) => (running ? fingerprint : [])));
  fingerprints.delete("");
  return [...fingerprints];
}

/** Items to judge, with what flows know of them as far as that was read. */
interface Reading {
  items: DraftItem[];
  /** Of all; undefined where that is more than is read at once. */
  facts: ReadonlyMap<string, readonly FlowFact[]> | undefined;
  /** How many flows know each fingerprint. */
  flows: ReadonlyMap<string, number>;
}

/** Reads what flows know, all of it or how much it is: one statement, or two. */
async function readAhead(tx: Tx, org: Org, items: DraftItem[]): Promise<Reading> {
  const fingerprints = fingerprintsOf(items);
  if (items.length <= chunkLimits.items) {
    const options = { wanted: wantedBy(items), limit: chunkLimits.facts };
    const facts = await getFactsUpTo(tx, org.id, fingerprints, options);
    if (facts !== undefined)
      return { items, facts, flows: new Map([...facts].map(([key, known]) => [key, known.length])) };
  }
  return { items, facts: undefined, flows: await countFlows(tx, org.id, fingerprints) };
}

/** Fails the whole transaction. */
export function refuse(problem: TooMuchToJudge): never {
  throw problem;
}

/** Measures what there is to judge in a snapshot in the making. @param flows see `measureJudging`. */
function judgingSize({ rules, items }: Draft, flows?: ReadonlyMap<string, number>): JudgingSize {
  const running = items.flatMap((item) => item.running ?? []);
  return measureJudging(rules.policies, running, flows);
}

/** Leaves out drafts with too much to judge. */
function judgeable(
  drafts: readonly Draft[],
  onTooMuch: Recording["onTooMuch"],
  flows?: ReadonlyMap<string, number>,
): Draft[] {
  return drafts.filter((draft) => {
    try {
      requireJudgeable(draft.target.environment.name, judgingSize(draft, flows));
      return true;
    } catch (error) {
      if (!(error instanceof TooMuchToJudge)) throw error;
      onTooMuch(error);
      return false;
    }
  });
}

/** Everything that was read of some items. */
interface Known {
  before: ReadonlyMap<string, StoredVersion>;
  facts: ReadonlyMap<string, readonly FlowFact[]>;
  /** By environment. */
  predecessors: ReadonlyMap<string, ReadonlyMap<string, Predecessor>>;
}

const noFacts: readonly FlowFact[] = [];
const noPredecessors: ReadonlyMap<string, Predecessor> = new Map();

/** Finds the version that an item had until now. */
function beforeOf({ draft, version }: DraftItem, { before }: Pick<Known, "before">) {
  const environment_id = draft.target.environment.id;
  return version === undefined ? undefined : before.get(versionText({ environment_id, id: version }));
}

/** Reads what is known of the items of a chunk: two statements, or three. */
async function readChunk(
  tx: Tx,
  org: Org,
  chunk: readonly DraftItem[],
  facts: Reading["facts"],
): Promise<Known> {
  const keys = chunk.flatMap(({ draft, version }) =>
    version === undefined ? [] : { environment_id: draft.target.environment.id, id: version },
  );
  const fingerprints = fingerprintsOf(chunk);
  const [before, known] = await Promise.all([
    listVersions(tx, org.id, keys),
    facts ?? getFacts(tx, org.id, fingerprints, wantedBy(chunk)),
  ]);
  const wanted = chunk.flatMap((item) => {
    if (item.running === undefined) return [];
    const environment_id = item.draft.target.environment.id;
    const unknown = unknownLineage(beforeOf(item, { before }), known.get(item.fingerprint) ?? noFacts);
    return unknown.map(({ flow_id, template_reference_name, fingerprint }) => ({
      environment_id,
      flow_id,
      template_reference_name,
      fingerprint,
    }));
  });
  const predecessors = wanted.length === 0 ? new Map() : await listPredecessors(tx, org.id, wanted);
  return { before, facts: known, predecessors };
}

/** Hashes a text in pieces, of which there is one in most cases. */
function* digestOf(contents: Iterable<string>): Steps<string> {
  let hash: Hash | undefined;
  let last = "";
  for (const piece of largerPieces(contents)) {
    if (last !== "") {
      hash ??= createHash("sha256");
      hash.update(last);
      yield;
    }
    last = piece;
  }
  return hash === undefined ? sha256(last).toString("base64") : hash.update(last).digest("base64");
}

/** Judges one artifact, or notes that it has exited, and has the outcome written. */
function* judgeItem(item: DraftItem, known: Known, writer: RecordWriter): Steps<void> {
  const { draft, running, fingerprint } = item;
  const stored = beforeOf(item, known);
  const judged =
    running === undefined ? [] : [yield* draft.judge(running, known.facts.get(fingerprint) ?? noFacts)];
  const annotated = compareVersions(stored === undefined ? [] : [stored], judged);
  const plan = yield* planSnapshot({
    annotated,
    running: draft.running,
    predecessors: known.predecessors.get(draft.target.environment.id) ?? noPredecessors,
    artifact_count: draft.artifact_count,
    digestOf,
  });
  yield* writer.add(draft, plan);
  draft.add(annotated, plan);
}

/** Judges items from a place on until there is enough to be written. @returns where it stopped. */
function* judgeSome(
  chunk: readonly DraftItem[],
  from: number,
  known: Known,
  writer: RecordWriter,
): Steps<number> {
  let at = from;
  for (const item of chunk.slice(from)) {
    // Whether a report brings anything new shows with the first change; what came before it waits until then.
    if (writer.isFull && item.draft.isWorthRecording) return at;
    yield* judgeItem(item, known, writer);
    at += 1;
    yield;
  }
  return at;
}

/** Judges the items of a chunk, and has the outcome written whenever it is enough. */
async function judgeChunk(chunk: readonly DraftItem[], known: Known, writer: RecordWriter): Promise<void> {
  let at = await paced(judgeSome(chunk, 0, known, writer));
  while (at < chunk.length) {
    await writer.flush();
    at = await paced(judgeSome(chunk, at, known, writer));
  }
}

/** Occurrences whose listeners are asked for together. */
const toldTogether = 1000;

/** Queues what actions want to be told of. */
async function tell(tx: Tx, org: Org, drafts: readonly Draft[]): Promise<void> {
  const occurrences = drafts.flatMap((draft) => draft.occurrences);
  for (let at = 0; at < occurrences.length; at += toldTogether)
    await notify(tx, org.id, occurrences.slice(at, at + toldTogether));
}

/**
 * Judges what runs in these environments, and appends a snapshot to each, unless a report brought nothing new. What
 * actions want to be told of is queued in the same transaction. A handful of statements for each thousand artifacts,
 * whatever the number of environments; others are served in between, and the memory it takes does not grow with what is
 * written. Does not look at the logical environments around: see `refreshGroups`.
 * Where there is too much to judge, that shows before anything is written.
 * @returns the snapshots that were appended.
 */
export async function appendSnapshots(tx: Tx, org: Org, recording: Recording): Promise<AppendedSnapshot[]> {
  const { targets, cause, onTooMuch, onTooMuchTogether } = recording;
  if (targets.length === 0) return [];
  const begun = judgeable(await beginDrafts(tx, org, recording), onTooMuch);
  const ahead = await readAhead(
    tx,
    org,
    begun.flatMap(({ items }) => items),
  );
  const drafts = judgeable(begun, onTooMuch, ahead.flows);
  if (onTooMuchTogether && isTooMuchTogether(drafts.map((draft) => judgingSize(draft, ahead.flows)))) {
    await onTooMuchTogether(drafts.map(({ target }) => target.environment.id));
    return [];
  }
  const writer = new RecordWriter(tx, org.id, cause);
  const kept = new Set(drafts);
  const items = ahead.items.filter(({ draft }) => kept.has(draft));
  for (const chunk of chunksOf(items, ahead.flows))
    await judgeChunk(chunk, await readChunk(tx, org, chunk, ahead.facts), writer);
  const worth = drafts.filter(({ isWorthRecording }) => isWorthRecording);
  for (const draft of drafts)
    if (draft.isWorthRecording) {
      await paced(writer.finish(draft));
      // Each has all policies that are applied in it.
      if (writer.isFull) await writer.flush();
    } else if (draft.confirmed.length > 0)
      await updateConfirmed(tx, org.id, draft.target.environment.id, draft.confirmed);
  if (worth.length === 0) return [];
  await writer.flush();
  await tell(tx, org, worth);
  return worth.map(({ news }) => ({ environment_id: news.environment.id, index: news.snapshot.index }));
}
