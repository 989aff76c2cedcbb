/** A moment that was written under a clock that was ahead, and when it can have been: Unix seconds. */
export interface WrongMoment {
  at: number;
  /** The last right moment that was written before it; -Infinity when there is none. */
  earliest: number;
  /** The first right moment that was written after it. */
  latest: number;
}

/** By how many seconds the clock was ahead while it gave the moments from `first` to `last`. */
export interface Shift {
  first: number;
  last: number;
  seconds: number;
}

/** Seconds after the right moment before it at which the first wrong one is put, where there is room. */
const spread = 1;

interface Group {
  first: number;
  last: number;
  least: number;
  most: number;
}

function shiftOf({ first, last, least, most }: Group): Shift {
  const room = Math.max(0, most - least);
  const seconds = Number.isFinite(most) ? most - Math.min(spread, room / 2) : least;
  return { first, last, seconds };
}

/**
 * Finds by how much the clock was ahead: as much as puts each moment between the right ones around it, alike for as many
 * as possible, so that what was written together stays together and what came later stays later.
 * @param moments in order of `at`.
 */
export async function findShifts(moments: AsyncIterable<WrongMoment>): Promise<Shift[]> {
  const shifts: Shift[] = [];
  let group: Group | undefined;
  for await (const { at, earliest, latest } of moments) {
    const [least, most] = [at - latest, at - earliest];
    const joined: Group | undefined = group && {
      first: group.first,
      last: at,
      least: Math.max(group.least, least),
      most: Math.min(group.most, most),
    };
    if (joined !== undefined && joined.least <= joined.most) {
      group = joined;
      continue;
    }
    if (group !== undefined) shifts.push(shiftOf(group));
    group = { first: at, last: at, least, most };
  }
  if (group !== undefined) shifts.push(shiftOf(group));
  return shifts;
}
