import type { Tx } from "../../../../db/connect.ts";
import {
  countEvaluations,
  judgingLimits,
  type MembersSize,
  membersProblem,
  requireJudgeable,
  sumOfMembers,
  TooMuchToJudge,
} from "../../../../domain/judging.ts";
import type { Org } from "../../../../domain/principal.ts";
import { artifactKey } from "../../../../domain/snapshot/running.ts";
import { uniteRunning } from "../../../../domain/snapshot/union.ts";
import { addTo, type NonEmpty } from "../../../../lib/group.ts";
import { grouped, paced, type Steps } from "../../../../lib/steps.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { appliedPolicies } from "../../rules/policies/applied-service.ts";
import { appendSnapshots, type Recording, refuse } from "./append-service.ts";
import {
  type EnvironmentRecord,
  listLogicalIds,
  listMembers,
  lockGroups,
  lockRecords,
  type MemberRow,
} from "./environment-store.ts";
import { queueReevaluation } from "./judging-jobs.ts";
import { earlierFromRows, earlierFromVersions, type Target } from "./targets.ts";
import {
  listEarlier,
  listPlacesSizes,
  listRecordedSizes,
  listRunning,
  type RecordedSize,
  type RunningVersion,
} from "./version-store.ts";

/** Environments that are judged again, and why. */
interface Reevaluation extends Pick<Recording, "cause"> {
  environmentIds: readonly string[];
  /**
   * Only takes something away, which nothing may stand in the way of: where there is too much to judge all the same, the
   * record stays as it is, and the log says so.
   */
  isLess?: boolean;
}

/** A `Recording` of environments whose records are still to be read. */
interface Reading extends Omit<Recording, "targets"> {
  ids: readonly string[];
}

/** Of logical environments. */
interface GroupReading extends Reading {
  /** Called for each whose members run more than is put together at once. When it returns, the record stays. */
  onTooLarge: Recording["onTooMuch"];
}

/**
 * Judges what runs in the environments again and appends the outcome, also when it is the same as before; nothing where
 * nothing was reported yet. The logical environments around follow; those among the environments themselves are made of
 * what runs in their members now. Their members need no lock: who reports to one waits for the logical environment before
 * committing. Rows are locked in the order physical, logical environments, each in order of ids; of several environments
 * the caller has locked all (`lockAll`).
 * @returns ids of those among the environments that have a new snapshot: not of others, and not of those that jobs judge.
 * @throws TooMuchToJudge unless less is asked than before.
 */
export async function reevaluate(
  deps: Pick<Deps, "clock" | "log">,
  tx: Tx,
  org: Org,
  { environmentIds, cause, isLess = false }: Reevaluation,
): Promise<string[]> {
  if (environmentIds.length === 0) return [];
  const logical = new Set(await listLogicalIds(tx, org.id, environmentIds));
  const physical = environmentIds.filter((id) => !logical.has(id));
  const at = deps.clock.now();
  const onTooMuch = isLess ? leaving(deps, org) : refuse;
  const appended = await appendPhysical(tx, org, { ids: physical, cause, at, onTooMuch });
  if (appended.length > 0) await refreshGroups(deps, tx, org, { memberIds: appended, at, onTooMuch });
  const groups = { ids: [...logical], cause, at, onTooMuch, onTooLarge: onTooMuch };
  return appended.concat(await appendGroups(tx, org, groups));
}

/** Leaves the record as it is, and says so in the log. */
function leaving({ log }: Pick<Deps, "log">, org: Org): Recording["onTooMuch"] {
  return (err) => log.error({ err, org: org.name }, "environment was not judged again");
}

/**
 * Appends a snapshot to each of these physical environments that was ever reported on, of what runs there by the latest.
 * @returns ids of the environments that have a new snapshot.
 */
async function appendPhysical(tx: Tx, org: Org, { ids, ...recording }: Reading): Promise<string[]> {
  if (ids.length === 0) return [];
  const environments = (await lockRecords(tx, org.id, ids)).filter(
    ({ snapshot_count }) => snapshot_count > 0,
  );
  const versions = await listRunning(
    tx,
    org.id,
    environments.map(({ id }) => id),
  );
  const targets = environments.map((environment) => {
    const own = versions.get(environment.id) ?? [];
    const running = own.map((version) => version.running);
    return { environment, running, earlier: earlierFromVersions(own), report: null };
  });
  return appendTargets(tx, org, { ...recording, targets });
}

/** Appends snapshots. @returns ids of the environments that have a new one. */
async function appendTargets(tx: Tx, org: Org, recording: Recording): Promise<string[]> {
  const snapshots = await appendSnapshots(tx, org, recording);
  return snapshots.map(({ environment_id }) => environment_id);
}

/**
 * Appends a snapshot to every logical environment around these, which have a new one of this moment. One whose members run
 * too much gives way to them: its record stays as it is.
 */
export async function refreshGroups(
  deps: Pick<Deps, "log">,
  tx: Tx,
  org: Org,
  { memberIds, at, onTooMuch }: Pick<Recording, "at" | "onTooMuch"> & { memberIds: readonly string[] },
): Promise<void> {
  const ids = await lockGroups(tx, org.id, memberIds);
  const onTooLarge = leaving(deps, org);
  await appendGroups(tx, org, { ids, cause: "members", at, onTooMuch, onTooLarge });
}

/**
 * Appends a snapshot to each of these logical environments: the union of what runs in their members. Nothing where no
 * member was ever reported on and there is no snapshot yet. Their rows are locked here, in order of their ids. Where together
 * they are more than one may be, a job for each does it: who waits for one thing does not wait for all around it.
 * @returns ids of the environments that have a new snapshot.
 */
async function appendGroups(
  tx: Tx,
  org: Org,
  { ids, onTooLarge, ...recording }: GroupReading,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const queue = (queued: readonly string[]): Promise<void> =>
    queueReevaluation(tx, org, queued, recording.cause);
  const counted = readable(await listGroups(tx, org, ids), onTooLarge);
  if (runTooMuchTogether(counted)) return leaveToJobs(counted, queue);
  const groups = readable(await measured(tx, org, counted), onTooLarge);
  if (runTooMuchTogether(groups)) return leaveToJobs(groups, queue);
  if (groups.length === 0) return [];
  const [versions, earlier] = await Promise.all([
    listRunning(tx, org.id, memberIdsOf(groups)),
    listEarlier(tx, org.id, idsOf(groups)),
  ]);
  const targets: Target[] = [];
  for (const { environment, members } of groups) {
    const united = await paced(unitedMembers(members, versions));
    const before = earlierFromRows(earlier.get(environment.id) ?? []);
    targets.push({ environment, ...united, earlier: before, report: null });
  }
  return appendTargets(tx, org, { ...recording, targets, onTooMuchTogether: queue });
}

/** Has each group judged by a job. @returns ids of those that have a new snapshot: none. */
async function leaveToJobs(
  groups: readonly Group[],
  queue: (environmentIds: readonly string[]) => Promise<void>,
): Promise<string[]> {
  await queue(idsOf(groups));
  return [];
}

/** A logical environment that was ever reported on. */
interface Group {
  environment: EnvironmentRecord;
  members: MemberRow[];
  /** Of what they run, as far as it is known. */
  size: MembersSize;
}

function idsOf(groups: readonly Group[]): string[] {
  return groups.map(({ environment }) => environment.id);
}

async function listGroups(tx: Tx, org: Org, ids: readonly string[]): Promise<Group[]> {
  const environments = await lockRecords(tx, org.id, ids);
  const all = await paced(grouped(await listMembers(tx, org.id, ids), ({ logical_id }) => logical_id));
  return environments.flatMap((environment) => {
    const members = all.get(environment.id) ?? [];
    const isKnown =
      environment.snapshot_count > 0 || members.some(({ snapshot_count }) => snapshot_count > 0);
    const artifacts = members.reduce((sum, member) => sum + member.artifacts, 0);
    return isKnown ? [{ environment, members, size: { artifacts, instances: 0, bytes: 0 } }] : [];
  });
}

/** Lists the members of logical environments, each once. */
function memberIdsOf(groups: readonly Group[]): string[] {
  return [...new Set(groups.flatMap(({ members }) => members.map(({ id }) => id)))];
}

/** Measures what the members of logical environments run: one statement, which answers with numbers alone. */
async function measured(tx: Tx, org: Org, groups: readonly Group[]): Promise<Group[]> {
  if (groups.length === 0) return [];
  const rows = await listPlacesSizes(tx, org.id, memberIdsOf(groups));
  const places = new Map(rows.map((row) => [row.environment_id, row]));
  return groups.map((group) => {
    const sizes = group.members.map(({ id, artifacts }) => {
      const { instances = 0, bytes = 0 } = places.get(id) ?? {};
      return { artifacts, instances, bytes };
    });
    return { ...group, size: sumOfMembers(sizes) };
  });
}

/** Says whether the members of several logical environments run more together than those of one may. */
function runTooMuchTogether(groups: readonly Group[]): boolean {
  return groups.length > 1 && membersProblem(sumOfMembers(groups.map(({ size }) => size))) !== undefined;
}

/** Leaves out groups whose members run more than is put together at once. */
function readable(groups: readonly Group[], onTooLarge: Recording["onTooMuch"]): Group[] {
  return groups.filter(({ environment, size }) => {
    const problem = membersProblem(size);
    if (problem !== undefined) onTooLarge(new TooMuchToJudge(environment.name, problem));
    return problem === undefined;
  });
}

/** Puts together what the members of a logical environment run, and what they say of it. */
function* unitedMembers(
  members: readonly MemberRow[],
  versions: ReadonlyMap<string, readonly RunningVersion[]>,
): Steps<Pick<Target, "running" | "members">> {
  const running = yield* uniteRunning(
    members.map(({ id, name }) => ({
      environment: name,
      artifacts: (versions.get(id) ?? []).map((version) => version.running),
    })),
  );
  const states = members.map(({ state }) => state);
  const verdicts = yield* verdictsOf(members.flatMap(({ id }) => versions.get(id) ?? []));
  return { running, members: { states, verdicts } };
}

/** Artifacts that are looked at before somebody else may do something. */
const inOneGo = 500;

/** Gathers the verdicts on each artifact in the members it runs in, by `artifactKey`. */
function* verdictsOf(versions: readonly RunningVersion[]): Steps<Map<string, NonEmpty<boolean | null>>> {
  const verdicts = new Map<string, NonEmpty<boolean | null>>();
  for (const [at, { running, compliant }] of versions.entries()) {
    if (at % inOneGo === 0) yield;
    addTo(verdicts, artifactKey(running), compliant);
  }
  return verdicts;
}

/**
 * Checks that what runs in environments can be judged by the policies attached there, as far as is known from their
 * latest snapshots: for those that are going to be judged later. Three statements.
 * @returns how much there is to judge in each.
 * @throws TooMuchToJudge for the first by name that asks for too much.
 */
export async function requireRecordedJudgeable(
  tx: Tx,
  org: Org,
  environmentIds: readonly string[],
): Promise<(RecordedSize & { evaluations: number })[]> {
  if (environmentIds.length === 0) return [];
  const sizes = await listRecordedSizes(tx, org.id, environmentIds, judgingLimits.facts + 1);
  const policies = await appliedPolicies(tx, org.id, environmentIds);
  return sizes.map((recorded) => {
    const { id, name, facts, most_flows: mostFlows, names, longest_name: longestName } = recorded;
    const size = { policies: policies.get(id) ?? [], facts, mostFlows, names, longestName };
    requireJudgeable(name, size);
    return { ...recorded, evaluations: countEvaluations(size) };
  });
}
