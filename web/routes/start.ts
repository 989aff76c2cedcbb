import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { changesQuery, changesSearch } from "../pages/changes/queries.ts";
import { runningQuery, runningSearch } from "../pages/running/queries.ts";
import { overviewQuery, startSearch } from "../pages/start/queries.ts";
import { organizationRoute } from "./root.ts";

const start = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/",
  validateSearch: startSearch,
  loader: ({ context: { queries }, params: { org } }) => void queries.prefetchQuery(overviewQuery(org)),
  component: lazyRouteComponent(() => import("../pages/start/Start.tsx"), "Start"),
});

const running = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/running",
  validateSearch: runningSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org }, deps }) =>
    void queries.prefetchQuery(runningQuery(org, deps)),
  component: lazyRouteComponent(() => import("../pages/running/Running.tsx"), "Running"),
});

const changes = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/changes",
  validateSearch: changesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org }, deps }) =>
    void queries.prefetchQuery(changesQuery(org, deps, Date.now() / 1000)),
  component: lazyRouteComponent(() => import("../pages/changes/Changes.tsx"), "Changes"),
});

export const startRoutes = [start, running, changes] as const;
