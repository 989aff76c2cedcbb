import type { Tx } from "../../../../db/connect.ts";
import type { VersionSummary } from "../../../../domain/snapshot/judging-plan.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { TextCache } from "../../../../lib/text-cache.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { keptByProgram } from "../../../kernel/program-deps.ts";
import type { ReportedRecord } from "./environment-store.ts";
import { getShown, listSomeSummaries, listVersionSummaries } from "./version-store.ts";

/** What ran in an environment by one of its snapshots. */
interface RememberedVersions {
  snapshot: number;
  /** When the snapshot was made. */
  at: Timestamp;
  /** By their ids. */
  versions: ReadonlyMap<number, VersionSummary>;
}

/** UTF-16 units of what is remembered of all environments: some thirty with 800 artifacts each. */
const mostRemembered = 16 * 1024 * 1024;

/** What an entry takes beside its text, roughly. */
const entryLength = 256;

/** What was read last of environments, by their ids, for as long as the program runs. */
const rememberedBy = keptByProgram(() => new TextCache<RememberedVersions>(mostRemembered));

function lengthOf(versions: readonly VersionSummary[]): number {
  return versions.reduce(
    (sum, { running, findings }) => sum + running.length + (findings?.length ?? 0) + entryLength,
    0,
  );
}

/**
 * Reads versions that were not remembered. What is known of a version never changes, but its number may be given again: where a standby takes
 * over from a primary before it has got all. So what is remembered counts only while its snapshot is one of those before.
 * @returns undefined when it is not.
 */
async function readWhatIsNew(
  tx: Tx,
  orgId: string,
  { id, snapshot_count }: ReportedRecord,
  { snapshot, at, versions }: RememberedVersions,
): Promise<VersionSummary[] | undefined> {
  const asked = { environment_id: id, latest: snapshot_count, earlier: snapshot };
  const { ids, earlier_at } = await getShown(tx, orgId, asked);
  if (earlier_at !== at) return undefined;
  const known: VersionSummary[] = [];
  const unknown: number[] = [];
  for (const version of ids) {
    const summary = versions.get(version);
    if (summary === undefined) unknown.push(version);
    else known.push(summary);
  }
  return unknown.length === 0 ? known : known.concat(await listSomeSummaries(tx, orgId, id, unknown));
}

/**
 * Lists what runs in an environment by its latest snapshot, in no order. Where nothing can be stale, only what has changed since the program
 * read it last is read. The environment's row is locked, and this transaction has not written any version: what it writes may not last.
 * @param mayBeStale whether something may be stale: then all is read.
 */
export async function listWhatRuns(
  deps: Deps,
  tx: Tx,
  orgId: string,
  environment: ReportedRecord,
  mayBeStale: boolean,
): Promise<VersionSummary[]> {
  const { id, snapshot_count, latest_at } = environment;
  if (mayBeStale || latest_at === null) return listVersionSummaries(tx, orgId, id, mayBeStale);
  const remembered = rememberedBy(deps);
  const before = remembered.get(id);
  const changed = before && (await readWhatIsNew(tx, orgId, environment, before));
  const summaries = changed ?? (await listVersionSummaries(tx, orgId, id, mayBeStale));
  const versions = new Map(summaries.map((version) => [version.id, version]));
  remembered.set(id, { snapshot: snapshot_count, at: latest_at, versions }, lengthOf(summaries));
  return summaries;
}
