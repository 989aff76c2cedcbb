import { compareUnits } from "../../lib/text.ts";
import { nameWithoutTag } from "../artifact-name.ts";
import { collected, grouped, sorted, type Steps } from "../../lib/steps.ts";

/** One of the two versions that a difference may pair. */
export interface Pairable {
  /** Tells it apart from all others, on both sides. */
  key: string;
  name: string;
  /** Empty when the digest is not known. */
  fingerprint: string;
  /** The first flow that knows it, and what that flow's template calls it. */
  flow_name: string | null;
  template_reference_name: string | null;
  /** Fingerprints that ran before it where it runs, as its deployment was recorded. */
  follows: readonly string[];
}

/** Two versions of one thing. */
export interface Pair<T> {
  before: T;
  after: T;
}

// Any order that is the same each time will do here: names are long and alike, and that of code points would take most of the time.

/** Puts the two versions in an order that does not depend on which side each is on. */
function ends<T extends Pairable>({ before, after }: Pair<T>): [T, T] {
  return compareUnits(before.key, after.key) < 0 ? [before, after] : [after, before];
}

function byEnds<T extends Pairable>(left: Pair<T>, right: Pair<T>): number {
  const [[one, other], [first, second]] = [ends(left), ends(right)];
  return compareUnits(one.key, first.key) || compareUnits(other.key, second.key);
}

function byName(left: Pairable, right: Pairable): number {
  return compareUnits(left.name, right.name) || compareUnits(left.key, right.key);
}

/** What is not paired yet, and the pairs that were found. */
interface Matching<T> {
  gone: T[];
  come: T[];
  pairs: Pair<T>[];
}

/** Pairs these, in their order, as far as both are still free. */
function* take<T>({ gone, come, pairs }: Matching<T>, found: readonly Pair<T>[]): Steps<Matching<T>> {
  const taken = new Set<T>();
  const more = yield* collected(found, (pair) => {
    if (taken.has(pair.before) || taken.has(pair.after)) return undefined;
    taken.add(pair.before).add(pair.after);
    return pair;
  });
  const free = (one: T): boolean => !taken.has(one);
  return { gone: gone.filter(free), come: come.filter(free), pairs: [...pairs, ...more] };
}

/** Finds for each of one side what it followed on the other one. */
function* followed<T extends Pairable>(
  side: readonly T[],
  others: readonly T[],
): Steps<(readonly [later: T, earlier: T])[]> {
  const known = new Map<string, T>();
  yield* collected(others, (one) => {
    if (one.fingerprint !== "") known.set(one.fingerprint, one);
    return undefined;
  });
  const found = yield* collected(side, (later) =>
    later.follows.flatMap((previous) => {
      const earlier = known.get(previous);
      return earlier === undefined ? [] : [[later, earlier] as const];
    }),
  );
  return found.flat();
}

/** Pairs what followed the other one where it runs, whichever of the two is the newer. */
function* byDeployment<T extends Pairable>(matching: Matching<T>): Steps<Matching<T>> {
  const { gone, come } = matching;
  const forth = yield* followed(come, gone);
  const back = yield* followed(gone, come);
  const pairs = [
    ...forth.map(([after, before]) => ({ before, after })),
    ...back.map(([before, after]) => ({ before, after })),
  ];
  return yield* take(matching, yield* sorted(pairs, byEnds));
}

/** Pairs what has the same text said of it, in the order of names where several have. */
function* byText<T extends Pairable>(
  matching: Matching<T>,
  textOf: (one: T) => string | undefined,
): Steps<Matching<T>> {
  const gone = yield* grouped(yield* sorted(matching.gone, byName), textOf);
  const come = yield* grouped(yield* sorted(matching.come, byName), textOf);
  const pairs: Pair<T>[] = [];
  for (const [text, befores] of gone) {
    const afters = text === undefined ? [] : (come.get(text) ?? []);
    for (const [at, before] of befores.entries()) {
      const after = afters[at];
      if (after === undefined) break;
      pairs.push({ before, after });
    }
  }
  return yield* take(matching, pairs);
}

function lineageOf({ flow_name, template_reference_name }: Pairable): string | undefined {
  return flow_name === null ? undefined : JSON.stringify([flow_name, template_reference_name]);
}

/**
 * Pairs versions of one thing, one to one: by what was recorded to have run before it, else by flow and template name,
 * else by name without tag. Which side is which does not matter, nor does the order of either.
 * @returns the pairs in the order of the later names.
 */
export function* pairVersions<T extends Pairable>(gone: readonly T[], come: readonly T[]): Steps<Pair<T>[]> {
  const deployed = yield* byDeployment({ gone: [...gone], come: [...come], pairs: [] });
  const built = yield* byText(deployed, lineageOf);
  const { pairs } = yield* byText(built, ({ name }) => nameWithoutTag(name));
  return yield* sorted(pairs, (left, right) => byName(left.after, right.after));
}
