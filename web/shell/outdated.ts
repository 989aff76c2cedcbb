import { lookForServer } from "../api/connection.ts";

const marker = "waybill-loaded-anew";
/** Within so long a page that was loaded anew is not loaded anew again by itself, in milliseconds: it would go on for ever. */
const patienceMs = 30_000;

const missing = new WeakSet<Error>();

/** Takes note when a part of the app does not arrive: the server was upgraded since the page was opened, or cannot be reached. */
export function noticeMissingParts(): void {
  addEventListener("vite:preloadError", ({ payload }) => {
    missing.add(payload);
    // What asked for the part fails with this, and says so in its place. By the browser's own words the router would reload the page at once.
    payload.message = `A part of the app has not arrived: ${payload.message}`;
  });
}

/** Says whether something failed because a part of the app did not arrive. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof Error && missing.has(error);
}

/** Says whether this is the page that was loaded anew. */
export function wasJustLoaded(): boolean {
  return Date.now() - Number(sessionStorage.getItem(marker) ?? 0) < patienceMs;
}

/** Loads the app anew, unless the server is not there: then what is shown stays. */
export async function loadAnew(): Promise<void> {
  if (!(await lookForServer())) return;
  sessionStorage.setItem(marker, String(Date.now()));
  location.reload();
}
