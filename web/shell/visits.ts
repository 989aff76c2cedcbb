import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";

import { readVisits, type Visit, withVisit } from "../domain/recent.ts";

const storageKey = "waybill-visits";

/** Reads which pages were visited in this browser, the last first. */
export function readRemembered(): Visit[] {
  return readVisits(localStorage.getItem(storageKey));
}

/** How long a page has to stay until it counts as visited, in milliseconds: its title is known by then. */
const settledMs = 1_000;

/** Remembers the pages that are visited. */
export function useRememberVisits(): void {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const timer = setTimeout(() => {
      const title = document.title.replace(/ · Waybill$/, "");
      localStorage.setItem(storageKey, JSON.stringify(withVisit(readRemembered(), { path, title })));
    }, settledMs);
    return () => clearTimeout(timer);
  }, [path]);
}

/** Forgets them: whoever signs in next need not know. */
export function forgetVisits(): void {
  localStorage.removeItem(storageKey);
}
