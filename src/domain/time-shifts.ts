/** A moment that was recorded while the clock was ahead, and the range in which it really was, in Unix seconds. */
export interface WrongMoment {
  at: number;
  /** The last right moment recorded before it; -Infinity when there is none. */
  earliest: number;
  /** The first right moment recorded after it. */
  latest: number;
}

/** By how many seconds the clock was ahead when it gave the moments from `first` to `last`. */
export interface Shift {
  first: number;
  last: number;
  seconds: number;
}

/** Seconds from the last right moment to where the first wrong one is put, where there is room. */
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
 * Finds by how much the clock was ahead. A shift puts each moment between the right ones around it, and one shift
 * serves as many moments as possible: so the distances and the order of moments are kept.
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
