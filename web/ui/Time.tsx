import { useEffect, useState } from "react";

import { exactTime, relativeTime } from "../domain/times.ts";

/** Who is told every so often, by milliseconds: all at once, so that a page with many times is drawn anew once. */
const told = new Map<number, Set<() => void>>();

/** Calls back every so often. @returns what ends that. */
function subscribe(everyMs: number, tell: () => void): () => void {
  const before = told.get(everyMs);
  if (before !== undefined) {
    before.add(tell);
    return () => before.delete(tell);
  }
  const all = new Set([tell]);
  told.set(everyMs, all);
  setInterval(() => {
    for (const one of all) one();
  }, everyMs);
  return () => all.delete(tell);
}

/** Seconds since 1970 by this machine's clock, every so often anew. */
export function useNow(everyMs = 15_000): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => subscribe(everyMs, () => setNow(Date.now() / 1000)), [everyMs]);
  return now;
}

interface TimeProps {
  /** Unix seconds. */
  at: number | null | undefined;
  exact?: boolean;
  /** It may be still to come: an end, a next attempt. */
  mayBeAhead?: boolean;
}

/** Says when something was, or will be: relative to now, and exactly when pointed at or printed. */
export function Time({ at, exact = false, mayBeAhead = false }: TimeProps) {
  const now = useNow();
  if (at === null || at === undefined || at === 0) return <span>never</span>;
  const precise = exactTime(at);
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={precise} data-exact={precise}>
      {exact ? precise : relativeTime(at, now, mayBeAhead)}
    </time>
  );
}
