import { JsonPieces } from "../../../../contract/endpoint.ts";
import type { Org } from "../../../../domain/principal.ts";
import {
  type DetailableArtifact,
  detailedDiff,
  type DetailedDiff,
  differingPolicies,
} from "../../../../domain/snapshot/diff-detail.ts";
import {
  type DiffableArtifact,
  DiffSide,
  type SnapshotDiff,
  snapshotDiff,
} from "../../../../domain/snapshot/diff.ts";
import { paced } from "../../../../lib/steps.ts";
import { nextTurn } from "../../../../lib/turns.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { getDiffFrame, listRunning, listRunningInDetail } from "./diff-store.ts";
import { resolveSnappish, type SnapshotRef } from "./find-service.ts";
import type { SnapshotKey } from "./store.ts";

function keyOf({ environment, index }: SnapshotRef): SnapshotKey {
  return { environment_id: environment.id, index };
}

function nameOf({ environment, index }: SnapshotRef): string {
  return `${environment.name}#${index}`;
}

async function gather<A extends DiffableArtifact>(
  ref: SnapshotRef,
  slices: AsyncIterable<A[]>,
): Promise<DiffSide<A>> {
  const side = new DiffSide<A>(nameOf(ref));
  for await (const rows of slices) {
    for (const row of rows) side.add(row);
    await nextTurn();
  }
  return side;
}

/** Writes items as those of a list, without its brackets. */
function* listItems(items: readonly unknown[]): Generator<string> {
  for (const [at, item] of items.entries()) yield (at === 0 ? "" : ",") + JSON.stringify(item);
}

/** Writes an object with a list of artifacts behind its other members. */
function* artifactList(head: object, artifacts: readonly unknown[]): Generator<string> {
  yield JSON.stringify({ ...head, artifacts: [] }).slice(0, -2);
  yield* listItems(artifacts);
  yield "]}";
}

async function* diffPieces(diff: SnapshotDiff): AsyncGenerator<string> {
  let opening = "{";
  for (const [part, { artifacts, ...rest }] of Object.entries({ ...diff })) {
    yield `${opening}${JSON.stringify(part)}:`;
    yield* artifactList(rest, artifacts);
    opening = ",";
    await nextTurn();
  }
  yield "}";
}

/** What a detailed difference says of one snapshot. */
interface DetailedSide {
  head: {
    snapshot_id: string;
    environment_name: string;
    index: number;
    timestamp: number;
    compliant: boolean | null;
    html_url: string;
  };
  /** Versions of the policies that it was judged by, by name. */
  policies: Map<string, number>;
  artifacts: DiffSide<DetailableArtifact>;
}

type Reading = Pick<Deps, "db" | "links">;

async function readDetailedSide({ db, links }: Reading, org: Org, ref: SnapshotRef): Promise<DetailedSide> {
  const { timestamp, compliant, policies } = await getDiffFrame(db, org.id, keyOf(ref));
  const { environment, index } = ref;
  const html_url = links.web(`/${org.name}/environments/${environment.name}/snapshots/${index}`);
  return {
    head: {
      snapshot_id: nameOf(ref),
      environment_name: environment.name,
      index,
      timestamp,
      compliant,
      html_url,
    },
    policies: new Map(policies.map(({ policy_name, version }) => [policy_name, version])),
    artifacts: await gather(ref, listRunningInDetail(db, org.id, keyOf(ref))),
  };
}

async function* detailedPieces(
  before: DetailedSide,
  after: DetailedSide,
  { gone, come, changed, same, paired }: DetailedDiff,
): AsyncGenerator<string> {
  const parts = [
    ["snappish1", artifactList(before.head, gone)],
    ["snappish2", artifactList(after.head, come)],
    ["changed", artifactList({}, changed)],
    ["not-changed", artifactList({}, same)],
  ] as const;
  for (const [at, [part, pieces]] of parts.entries()) {
    yield `${at === 0 ? "{" : ","}"${part}":`;
    yield* pieces;
    await nextTurn();
  }
  yield ',"paired":[';
  yield* listItems(paired);
  yield `],"policies":${JSON.stringify(differingPolicies(before.policies, after.policies))}}`;
}

async function compareInDetail(
  deps: Reading,
  org: Org,
  refs: [SnapshotRef, SnapshotRef],
): Promise<JsonPieces> {
  // Both exist, so it does not matter which is read first.
  const [before, after] = await Promise.all([
    readDetailedSide(deps, org, refs[0]),
    readDetailedSide(deps, org, refs[1]),
  ]);
  const link = (path: string): string => deps.links.web(`/${org.name}${path}`);
  const diff = await paced(detailedDiff(before.artifacts, after.artifacts, link));
  return new JsonPieces(detailedPieces(before, after, diff));
}

/**
 * Compares two snapshots, of one environment or of two, by expressions with the environments' names (contract 5). JSON text
 * made while it is sent. In detail versions of one thing are paired.
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression; of the first one
 * before anything of the second.
 */
export async function compareSnapshots(
  deps: Pick<Deps, "db" | "clock" | "links">,
  org: Org,
  {
    snappish1,
    snappish2,
    include = [],
  }: { snappish1: string; snappish2: string; include?: "detail"[] | undefined },
): Promise<JsonPieces> {
  const first = await resolveSnappish(deps, org, snappish1);
  const second = await resolveSnappish(deps, org, snappish2);
  if (include.includes("detail")) return compareInDetail(deps, org, [first, second]);
  const before = await gather(first, listRunning(deps.db, org.id, keyOf(first)));
  const after = await gather(second, listRunning(deps.db, org.id, keyOf(second)));
  return new JsonPieces(diffPieces(await paced(snapshotDiff(before, after))));
}
