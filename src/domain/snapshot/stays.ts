import type { Timestamp } from "../../lib/clock.ts";

/** An artifact that started or stopped to run under some name. */
export interface Move {
  environment_id: string;
  /** The present one. */
  environment_name: string;
  /** When its environment was archived. */
  archived_at: Timestamp | null;
  fingerprint: string;
  /** The number of the snapshot that noticed. */
  index: number;
  at: Timestamp;
  started: boolean;
}

/** A time during which an artifact ran in an environment, by the numbers of the snapshots in which that changed. */
export interface Stay {
  environment_name: string;
  started_at: Timestamp;
  started_in: number;
  /** Null while it runs. */
  exited_at: Timestamp | null;
  /** Also null when it ran until its environment was archived. */
  exited_in: number | null;
}

interface OpenStay {
  stay: Stay;
  /** Names it runs under. */
  names: number;
}

/** What runs in an archived environment is not known to run any more. */
function endWithEnvironment(stay: Stay, archived_at: Timestamp | null): Stay {
  return { ...stay, exited_at: archived_at };
}

function staysOf(moves: readonly Move[]): Stay[] {
  const ended: Stay[] = [];
  let open: OpenStay | undefined;
  for (const { environment_name, index, at, started } of moves) {
    if (started) {
      open ??= {
        stay: { environment_name, started_at: at, started_in: index, exited_at: null, exited_in: null },
        names: 0,
      };
      open.names += 1;
    } else if (open !== undefined) {
      open.names -= 1;
      if (open.names > 0) continue;
      ended.push({ ...open.stay, exited_at: at, exited_in: index });
      open = undefined;
    }
  }
  if (open !== undefined) ended.push(endWithEnvironment(open.stay, moves[0]!.archived_at));
  return ended;
}

/**
 * When each artifact ran where, by fingerprint; oldest first. An artifact runs in an environment as long as it does under
 * any name, so one that changes its name within a snapshot has not stopped.
 * @param moves of each environment and fingerprint together in the order of their snapshots, starts before exits.
 */
export function staysByFingerprint(moves: readonly Move[]): Map<string, Stay[]> {
  const groups = new Map<string, Move[]>();
  for (const move of moves) {
    const key = `${move.fingerprint} ${move.environment_id}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [move]);
    else group.push(move);
  }
  const stays = new Map<string, Stay[]>();
  for (const group of groups.values()) {
    const { fingerprint } = group[0]!;
    stays.set(fingerprint, [...(stays.get(fingerprint) ?? []), ...staysOf(group)]);
  }
  for (const each of stays.values()) each.sort((left, right) => left.started_at - right.started_at);
  return stays;
}
