/** A page that was visited. */
export interface Visit {
  /** Path and search, below the program's own path. */
  path: string;
  title: string;
}

/** How many visits are remembered. */
const most = 10;

/** Puts a visit before the others, each page once. */
export function withVisit(visits: readonly Visit[], visit: Visit): Visit[] {
  return [visit, ...visits.filter(({ path }) => path !== visit.path)].slice(0, most);
}

/** Reads what was remembered; nothing of what does not look like it. */
export function readVisits(text: string | null): Visit[] {
  try {
    const read: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(read) ? read.filter(isVisit).slice(0, most) : [];
  } catch {
    return [];
  }
}

function isVisit(value: unknown): value is Visit {
  return (
    typeof value === "object" &&
    value !== null &&
    "path" in value &&
    "title" in value &&
    typeof value.title === "string" &&
    typeof value.path === "string" &&
    /^\/(?!\/)/.test(value.path)
  );
}
