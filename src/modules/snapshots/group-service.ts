import type { Tx } from "../../db/connect.ts";
import { judgingLimits, TooMuchToJudge } from "../../domain/judging.ts";
import { artifactKey } from "../../domain/snapshot/running.ts";
import { uniteRunning } from "../../domain/snapshot/union.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { paced, type Steps } from "../../lib/steps.ts";
import type { Org } from "../environments/find-service.ts";
import { appendSnapshots, type Recording } from "./append-service.ts";
import { listRunning, type RunningVersion } from "./running-store.ts";
import { ranAs, type Target } from "./targets.ts";
import { listMembers, lockGroups, lockStandings, type MemberRow, type Standing } from "./timeline-store.ts";

/** Artifacts that are looked at before somebody else may do something. */
const inOneGo = 500;

/** What each artifact is worth in the members it runs in, by `artifactKey`. */
function* verdictsOf(versions: readonly RunningVersion[]): Steps<Map<string, (boolean | null)[]>> {
  const verdicts = new Map<string, (boolean | null)[]>();
  for (const [at, { running, compliant }] of versions.entries()) {
    if (at % inOneGo === 0) yield;
    const key = artifactKey(running);
    const known = verdicts.get(key);
    if (known === undefined) verdicts.set(key, [compliant]);
    else known.push(compliant);
  }
  return verdicts;
}

/** A logical environment with what its members run. */
function* groupTarget(
  standing: Standing,
  members: readonly MemberRow[],
  versions: ReadonlyMap<string, readonly RunningVersion[]>,
): Steps<Target> {
  const running = yield* uniteRunning(
    members.map(({ id, name }) => ({
      environment: name,
      artifacts: (versions.get(id) ?? []).map((version) => version.running),
    })),
  );
  const states = members.map(({ state }) => state);
  const verdicts = yield* verdictsOf(members.flatMap(({ id }) => versions.get(id) ?? []));
  const ran = ranAs(versions.get(standing.id) ?? []);
  return { standing, running, ran, members: { states, verdicts }, report: null };
}

/** A logical environment that was ever reported on. */
interface Group {
  standing: Standing;
  members: MemberRow[];
}

async function listGroups(tx: Tx, org: Org, ids: readonly string[]): Promise<Group[]> {
  const standings = await lockStandings(tx, org.id, ids);
  const all = await listMembers(tx, org.id, ids);
  return standings.flatMap((standing) => {
    const members = all.filter(({ logical_id }) => logical_id === standing.id);
    const isKnown = standing.snapshot_count > 0 || members.some(({ snapshot_count }) => snapshot_count > 0);
    return isKnown ? [{ standing, members }] : [];
  });
}

/** Those whose members run no more than is put together at once. */
function readable(groups: readonly Group[], onTooMuch: Recording["onTooMuch"]): Group[] {
  return groups.filter(({ standing, members }) => {
    const artifacts = members.reduce((sum, member) => sum + member.artifacts, 0);
    if (artifacts <= judgingLimits.memberArtifacts) return true;
    const problem = `its members run ${artifacts} artifacts, more than the ${judgingLimits.memberArtifacts} that are possible at once`;
    onTooMuch(new TooMuchToJudge(standing.name, problem));
    return false;
  });
}

/**
 * Appends a snapshot to each of these logical environments: the union of what runs in their members. Nothing where no
 * member was ever reported on and there is no snapshot yet. Their rows are locked here, in order of their ids.
 */
export async function appendGroups(
  tx: Tx,
  org: Org,
  { ids, cause, at, onTooMuch }: Omit<Recording, "targets"> & { ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  const groups = readable(await listGroups(tx, org, ids), onTooMuch);
  if (groups.length === 0) return;
  const wanted = groups.flatMap(({ standing, members }) => [standing.id, ...members.map(({ id }) => id)]);
  const versions = await listRunning(tx, org.id, [...new Set(wanted)]);
  const targets: Target[] = [];
  for (const { standing, members } of groups)
    targets.push(await paced(groupTarget(standing, members, versions)));
  await appendSnapshots(tx, org, { cause, targets, at, onTooMuch });
}

/**
 * Appends a snapshot to every logical environment around these, which have a new one of this moment.
 */
export async function refreshGroups(
  tx: Tx,
  org: Org,
  {
    memberIds,
    at,
    onTooMuch,
  }: { memberIds: readonly string[]; at: Timestamp; onTooMuch: Recording["onTooMuch"] },
): Promise<void> {
  const ids = await lockGroups(tx, org.id, memberIds);
  await appendGroups(tx, org, { ids, cause: "members", at, onTooMuch });
}
