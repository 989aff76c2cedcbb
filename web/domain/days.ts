/** Reads a day as addresses and date fields have it, `2026-11-22`; undefined for what is none. */
export function dayOf(given: unknown): string | undefined {
  if (typeof given !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(given)) return undefined;
  const date = new Date(`${given}T00:00:00Z`);
  return Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== given ? undefined : given;
}

/** Finds when a day begins in the reader's own zone, in Unix seconds. @param day `2026-11-22`. */
export function startOfDay(day: string | undefined): number | undefined {
  return day === undefined ? undefined : new Date(`${day}T00:00:00`).getTime() / 1000;
}

/** Finds the last moment of a day in the reader's own zone, in Unix seconds. @param day `2026-11-22`. */
export function endOfDay(day: string | undefined): number | undefined {
  if (day === undefined) return undefined;
  const next = new Date(`${day}T00:00:00`);
  next.setDate(next.getDate() + 1);
  return (next.getTime() - 1) / 1000;
}
