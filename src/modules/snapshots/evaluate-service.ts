import type { Tx } from "../../db/connect.ts";
import type { TooMuchToJudge } from "../../domain/judging.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";
import { appendSnapshots, type Recording, refuse } from "./append-service.ts";
import { appendGroups, refreshGroups } from "./group-service.ts";
import { listRunning } from "./running-store.ts";
import { ranAs } from "./targets.ts";
import { listLogicalIds, lockStandings } from "./timeline-store.ts";

/** Which environments are judged again, and why. */
export interface Reevaluation extends Pick<Recording, "cause"> {
  environmentIds: readonly string[];
  /**
   * Only takes something away, which nothing may stand in the way of: where there is too much to judge all the same, the
   * record stays as it is, and the log says so.
   */
  isLess?: boolean;
}

/**
 * Judges what runs in the environments again and appends the outcome, also when it is the same as before; nothing where
 * nothing was reported yet. The logical environments around follow; those among the environments themselves are made of
 * what runs in their members now. Their members need no lock: who reports to one waits for the logical environment before
 * committing. Rows are locked in the order physical, logical environments, each in order of ids; of several environments
 * the caller has locked all (`lockAll`).
 * @throws TooMuchToJudge unless less is asked than before.
 */
export async function reevaluate(
  deps: Pick<Deps, "clock" | "log">,
  tx: Tx,
  org: Org,
  { environmentIds, cause, isLess = false }: Reevaluation,
): Promise<void> {
  if (environmentIds.length === 0) return;
  const logical = new Set(await listLogicalIds(tx, org.id, environmentIds));
  const physical = environmentIds.filter((id) => !logical.has(id));
  const at = deps.clock.now();
  const leave = (err: TooMuchToJudge): void =>
    deps.log.error({ err, org: org.name }, "environment was not judged again");
  const onTooMuch = isLess ? leave : refuse;
  const appended = await reevaluatePhysical(tx, org, { ids: physical, cause, at, onTooMuch });
  if (appended.length > 0) await refreshGroups(tx, org, { memberIds: appended, at, onTooMuch });
  await appendGroups(tx, org, { ids: [...logical], cause, at, onTooMuch });
}

/** @returns ids of the environments that have a new snapshot. */
async function reevaluatePhysical(
  tx: Tx,
  org: Org,
  { ids, cause, at, onTooMuch }: Omit<Recording, "targets"> & { ids: readonly string[] },
): Promise<string[]> {
  if (ids.length === 0) return [];
  const standings = (await lockStandings(tx, org.id, ids)).filter(({ snapshot_count }) => snapshot_count > 0);
  const versions = await listRunning(
    tx,
    org.id,
    standings.map(({ id }) => id),
  );
  const targets = standings.map((standing) => {
    const own = versions.get(standing.id) ?? [];
    return { standing, running: own.map(({ running }) => running), ran: ranAs(own), report: null };
  });
  const snapshots = await appendSnapshots(tx, org, { cause, targets, at, onTooMuch });
  return snapshots.map(({ environment_id }) => environment_id);
}
