import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { ConnectionBar } from "./ConnectionBar.tsx";

/** After a change of page, focus goes to its heading, which so is read out. */
function useFocusOnHeading(): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (before.current !== undefined && before.current !== path)
      document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
}

/** What all pages stand in. */
export function Root() {
  useFocusOnHeading();
  return (
    <>
      <Outlet />
      <ConnectionBar />
    </>
  );
}
