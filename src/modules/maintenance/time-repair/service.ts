import type { Tx } from "../../../db/connect.ts";
import { transaction } from "../../../db/transaction.ts";
import { invalid } from "../../../domain/errors.ts";
import { instanceLogId } from "../../../domain/instance-log.ts";
import type { Actor } from "../../../domain/principal.ts";
import { learnedLimit } from "../../../domain/silence.ts";
import { findShifts, type Shift } from "../../../domain/time-shifts.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { groupBy } from "../../../lib/group.ts";
import { tolerance } from "../../../lib/time-guard.ts";
import { appendRecord } from "../../kernel/audit/service.ts";
import { evaluateTrails } from "../../process/compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { requireNoCopies } from "../partitions/service.ts";
import {
  countDamage,
  type DamagedSubject,
  type DamageRow,
  type Horizon,
  listDamagedSubjects,
  listOrganizationNames,
  prepareRightTime,
  wrongEntries,
} from "./damage-store.ts";
import {
  listDamagedTrails,
  lockRecords,
  noteDamagedTrails,
  rebuildActivity,
  repairAuditLog,
  repairBuilds,
  repairKeys,
  repairMark,
  repairNotifications,
  repairTrailEvents,
  repairTrails,
  shiftColumns,
  withoutGuards,
} from "./store.ts";
import {
  findSnapshotTimes,
  listDoubtfulRhythms,
  recountTurns,
  repairEnvironments,
  repairSilences,
  repairSnapshots,
  type RhythmRow,
  updateRhythm,
} from "./runtime-store.ts";

/** What has a wrong time, and by how much the clock was ahead when it was written. */
export interface Damage {
  columns: DamageRow[];
  subjects: DamagedSubject[];
  shifts: Shift[];
}

/**
 * Says which moments are wrong.
 * @param after from when on they are wrong; a few minutes from now unless given.
 * @throws AppError invalid for one that is not in the future: right moments could not be told from wrong ones.
 */
function horizonOf(now: Timestamp, after: Timestamp | undefined): Horizon {
  if (after !== undefined && after < now)
    throw invalid("--after must be in the future: wrong times in the past cannot be told from right ones");
  return { now, after: after ?? now + tolerance };
}

async function examine(tx: Tx, horizon: Horizon): Promise<Damage> {
  return {
    columns: await countDamage(tx, horizon),
    subjects: await listDamagedSubjects(tx, horizon),
    shifts: await findShifts(wrongEntries(tx, horizon)),
  };
}

/** Finds what has a time that has not come yet, and changes nothing. Reads every table once. */
export function findDamage(deps: Pick<Deps, "db" | "clock">, after?: Timestamp): Promise<Damage> {
  const horizon = horizonOf(deps.clock.now(), after);
  return transaction(deps.db, (tx) => examine(tx, horizon));
}

/** Trails that are judged again at a time. */
const trailsAtATime = 200;

async function judgeAgain(tx: Tx): Promise<void> {
  for (let last: { org_id: string; trail_id: string } | undefined; ;) {
    const trails = await listDamagedTrails(tx, last, trailsAtATime);
    for (const [orgId, ofOrg] of groupBy(trails, ({ org_id }) => org_id))
      await evaluateTrails(
        tx,
        orgId,
        ofOrg.map(({ trail_id }) => trail_id),
        { kind: "trail" },
      );
    last = trails.at(-1);
    if (trails.length < trailsAtATime) return;
  }
}

/**
 * Gaps that were real: none longer than the environment exists, nor as long as the clock was ahead, nor those of no length
 * that follow, while reports seemed to come before the last one.
 */
function realGaps({ age, shift, report_gaps }: RhythmRow): number[] {
  let isBack = true;
  return report_gaps.filter((gap) => {
    const isWrong = gap > age || (shift !== null && gap > shift / 2);
    isBack = !isWrong && (isBack || gap > 0);
    return isBack;
  });
}

async function repairRhythms(tx: Tx, horizon: Horizon): Promise<void> {
  for (const row of await listDoubtfulRhythms(tx, horizon)) {
    const report_gaps = realGaps(row);
    await updateRhythm(tx, row, { report_gaps, learned_limit: learnedLimit(report_gaps) ?? null });
  }
}

async function repairEverything(tx: Tx, horizon: Horizon): Promise<void> {
  await noteDamagedTrails(tx, horizon);
  await repairAuditLog(tx, horizon);
  await shiftColumns(tx, horizon);
  await repairKeys(tx, horizon);
  await repairBuilds(tx, horizon);
  await findSnapshotTimes(tx, horizon);
  await repairEnvironments(tx, horizon);
  await repairSnapshots(tx, horizon);
  await repairTrailEvents(tx, horizon);
  await repairTrails(tx, horizon);
  await judgeAgain(tx);
  await rebuildActivity(tx);
  await repairNotifications(tx, horizon);
  await repairSilences(tx, horizon);
  await repairRhythms(tx, horizon);
  await recountTurns(tx);
}

function organizationsOf({ columns }: Damage): string[] {
  return [...new Set(columns.flatMap(({ org_id }) => org_id ?? []))].sort();
}

/**
 * Gives everything that has a time that has not come yet the best time that can be told, in one transaction that lets
 * nobody write meanwhile: done again after it was interrupted, it begins anew. Orders stay as they are, and what follows
 * from times is found anew. Each organization's audit log tells of it. The guards of tables of record are lifted for it
 * and nothing else. Idempotent.
 * @returns what was wrong.
 */
export function repairTimes(
  deps: Pick<Deps, "db" | "clock">,
  actor: Actor,
  after?: Timestamp,
): Promise<Damage> {
  return transaction(deps.db, async (tx) => {
    await lockRecords(tx);
    await requireNoCopies(tx);
    const horizon = horizonOf(deps.clock.now(), after);
    const damage = await examine(tx, horizon);
    const latest = Math.max(horizon.now, ...damage.columns.map((row) => row.latest));
    await prepareRightTime(tx, damage.shifts, horizon);
    await withoutGuards(tx, () => repairEverything(tx, horizon));
    if (damage.columns.length > 0) await repairMark(tx, horizon, latest);
    const righted = { clock: { now: () => horizon.now } };
    const ids = organizationsOf(damage);
    for (const org of await listOrganizationNames(tx, ids))
      appendRecord(righted, tx, { org, actor }, { resource_type: "organization", resource: org.name });
    if (ids.includes(instanceLogId))
      appendRecord(
        righted,
        tx,
        { org: { id: instanceLogId }, actor },
        { resource_type: "instance", resource: "instance" },
      );
    return damage;
  });
}
