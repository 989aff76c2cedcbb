import { enqueue } from "../../../db/jobs.ts";
import { transaction } from "../../../db/transaction.ts";
import { FairSlots, NoSlot } from "../../../lib/fair-slots.ts";
import type { Deps } from "../../kernel/deps.ts";
import { keptByProgram } from "../../kernel/program-deps.ts";

/** What is sent at a time by a server: for all organizations and for one of them, and mails about keys. */
const most = { deliveries: 8, ofOne: 3, keyMails: 2 };

/** Workers that send: one for each place, so that neither deliveries nor mails about keys keep each other waiting. */
export const senders = most.deliveries + most.keyMails;

/** A worker waits for a place only for a moment. */
const moment = { waiting: Infinity, waitMs: 500 };

/** How far apart come back those that found no place, and when the last of them does, in milliseconds. */
const line = { spacing: 200, longest: 600_000 };
const maxLines = 10_000;

/** Places, and until when the lines of their owners reach. Forgetting the lines costs a few looks for a place, nothing else. */
const placesOf = keptByProgram(() => ({
  deliveries: new FairSlots({ total: most.deliveries, perOwner: most.ofOne, ...moment }),
  keyMails: new FairSlots({ total: most.keyMails, perOwner: most.keyMails, ...moment }),
  lines: new Map<string, number>(),
}));

/** Seconds after which a job that has just found no place comes again: one of an owner after the other. */
function waitInLine(lines: Map<string, number>, owner: string): number {
  const now = performance.now();
  if (lines.size >= maxLines) lines.clear();
  const turn = Math.min(Math.max(now, lines.get(owner) ?? 0) + line.spacing, now + line.longest);
  lines.set(owner, turn);
  return (turn - now) / 1000;
}

/** Who wants to send something. */
export interface Sender {
  kind: "deliveries" | "keyMails";
  /** Who has few places of all: an organization. */
  owner: string;
  /** How often its job was put back before anything was sent, as far as that matters; undefined for never. */
  postponed: 0 | 1 | 2 | undefined;
}

/** A place to give back, or the seconds after which to ask again. */
type Place = { leave: () => void } | { comeAgain: number };

/**
 * Takes one of the few places of who wants to send, so that slow receivers do not keep others' messages waiting. The first time a job goes without one behind
 * those of others at once; then it waits for a moment, as quick receivers let it; and then it stands in line.
 */
export async function takePlace(deps: Deps, { kind, owner, postponed = 0 }: Sender): Promise<Place> {
  const { lines, [kind]: slots } = placesOf(deps);
  if (postponed !== 1) {
    const leave = slots.takeFree(owner);
    if (leave !== undefined) return { leave };
    return { comeAgain: postponed === 0 ? 0 : waitInLine(lines, owner) };
  }
  try {
    return { leave: await slots.take(owner, deps.stopping.signal) };
  } catch (error) {
    if (error instanceof NoSlot || deps.stopping.signal.aborted)
      return { comeAgain: waitInLine(lines, owner) };
    throw error;
  }
}

/** The priority of jobs that were put back: later ones go last. */
const behindOthers = 1;

/** Puts a job that found no place back behind others, which is no failure of it. By its key it is there once, however often it is put back. */
export async function putBack(
  deps: Pick<Deps, "db">,
  task: string,
  { payload, key }: { payload: Record<string, string | number>; key: string },
  { postponed = 0, delay }: Pick<Sender, "postponed"> & { delay: number },
): Promise<void> {
  const next = { ...payload, postponed: Math.min(postponed + 1, 2) };
  await transaction(deps.db, (tx) => enqueue(tx, task, next, { key, delay, priority: behindOthers }));
}
