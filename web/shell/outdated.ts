import { lookForServer } from "../api/connection.ts";

const marker = "waybill-loaded-anew";
/** Within so long a page that was loaded anew is not loaded anew again by itself, in milliseconds: it would go on for ever. */
const patienceMs = 30_000;

let isMissing = false;

/** Takes note when a part of the app does not arrive: the server was upgraded since the page was opened, or cannot be reached. */
export function noticeMissingParts(): void {
  addEventListener("vite:preloadError", (event) => {
    isMissing = true;
    // What asked for the part fails, and says so in its place.
    event.preventDefault();
  });
}

/** Says whether a part of the app did not arrive. */
export function isPartMissing(): boolean {
  return isMissing;
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
