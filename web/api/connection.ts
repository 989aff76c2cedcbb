import { useSyncExternalStore } from "react";

/** Whether the server can be reached, as far as is known, and since when it could not. */
export interface Connection {
  isThere: boolean;
  /** Whether it is this machine that has no network. */
  isOffline: boolean;
  /** When an answer came last, in Unix seconds. */
  answeredAt: number;
}

let connection: Connection = {
  isThere: navigator.onLine,
  isOffline: !navigator.onLine,
  answeredAt: Date.now() / 1000,
};
let answeredAt = connection.answeredAt;
const listeners = new Set<() => void>();

function know(isThere: boolean, isOffline: boolean): void {
  if (connection.isThere === isThere && connection.isOffline === isOffline) return;
  connection = { isThere, isOffline, answeredAt };
  for (const listener of listeners) listener();
}

/** Takes note of a request that got an answer, or got none. */
export function noteAnswer(isThere: boolean): void {
  if (isThere) answeredAt = Date.now() / 1000;
  know(isThere, !isThere && !navigator.onLine);
}

/** Looks whether the server is there: it always answers with the app itself. */
export async function lookForServer(): Promise<boolean> {
  const isThere = await fetch(location.href, { method: "HEAD", headers: { accept: "text/html" } }).then(
    () => true,
    () => false,
  );
  noteAnswer(isThere);
  return isThere;
}

addEventListener("offline", () => know(false, true));
// There is a network; whether the server is there, too, is not known before it answers.
addEventListener("online", () => know(connection.isThere, false));

/** Gives what is known of the connection to the server. */
export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => connection,
  );
}
