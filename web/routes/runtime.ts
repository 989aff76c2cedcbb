import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { compareSearch, differenceQuery } from "../pages/compare/queries.ts";
import {
  environmentAllowListQuery,
  deploymentsQuery,
  deploymentsSearch,
  environmentQuery,
  environmentsQuery,
  environmentsSearch,
  eventsQuery,
  expressionOf,
  logSearch,
  prefetchLatest,
  silenceQuery,
  snapshotQuery,
  snapshotSearch,
  snapshotsQuery,
  stripQuery,
  timelineSearch,
} from "../pages/environments/queries.ts";
import { spacesQuery } from "../parts/spaces.ts";
import { anewFor } from "./anew.ts";
import { organizationRoute } from "./root.ts";

const now = (): number => Date.now() / 1000;

const environments = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments",
  validateSearch: environmentsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    void context.queries.prefetchQuery(environmentsQuery(params.org, deps)),
  component: lazyRouteComponent(() => import("../pages/environments/Environments.tsx"), "Environments"),
});

const newEnvironment = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/-/new",
  component: lazyRouteComponent(() => import("../pages/environments/NewEnvironment.tsx"), "NewEnvironment"),
});

const environment = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/$env",
  remountDeps: anewFor("env"),
  validateSearch: snapshotSearch,
  loader: ({ context: { queries }, params: { org, env } }) => {
    void prefetchLatest(queries, org, env);
    void queries.prefetchQuery(stripQuery(org, env));
    void queries.prefetchQuery(silenceQuery(org, env));
  },
  component: lazyRouteComponent(() => import("../pages/environments/Environment.tsx"), "Environment"),
});

const snapshot = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/$env/snapshots/$expression",
  validateSearch: snapshotSearch,
  loader: ({ context: { queries }, params: { org, env, expression } }) => {
    void queries.prefetchQuery(snapshotQuery(org, env, expressionOf(expression)));
    void queries.prefetchQuery(stripQuery(org, env));
    void queries.prefetchQuery(silenceQuery(org, env));
  },
  component: lazyRouteComponent(() => import("../pages/environments/Snapshot.tsx"), "Snapshot"),
});

const timeline = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/$env/snapshots",
  remountDeps: anewFor("env"),
  validateSearch: timelineSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org, env }, deps }) => {
    void queries.prefetchQuery(snapshotsQuery(org, env, deps, now()));
    void queries.prefetchQuery(environmentQuery(org, env));
    void queries.prefetchQuery(stripQuery(org, env));
  },
  component: lazyRouteComponent(() => import("../pages/environments/Timeline.tsx"), "Timeline"),
});

const log = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/$env/log",
  remountDeps: anewFor("env"),
  validateSearch: logSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org, env }, deps }) => {
    void queries.prefetchQuery(eventsQuery(org, env, deps, now()));
    void queries.prefetchQuery(environmentQuery(org, env));
  },
  component: lazyRouteComponent(() => import("../pages/environments/Log.tsx"), "Log"),
});

const deployments = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/$env/deployments",
  remountDeps: anewFor("env"),
  validateSearch: deploymentsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org, env }, deps }) => {
    void queries.prefetchQuery(deploymentsQuery(org, env, deps, now()));
    void queries.prefetchQuery(environmentQuery(org, env));
  },
  component: lazyRouteComponent(() => import("../pages/environments/Deployments.tsx"), "Deployments"),
});

const allowList = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/$env/allow-list",
  remountDeps: anewFor("env"),
  loader: ({ context: { queries }, params: { org, env } }) => {
    void queries.prefetchQuery(environmentAllowListQuery(org, env));
    void queries.prefetchQuery(environmentQuery(org, env));
  },
  component: lazyRouteComponent(() => import("../pages/environments/AllowList.tsx"), "AllowList"),
});

const settings = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/environments/$env/settings",
  remountDeps: anewFor("env"),
  loader: ({ context: { queries }, params: { org, env } }) => {
    void queries.prefetchQuery(silenceQuery(org, env));
    void queries.prefetchQuery(environmentQuery(org, env));
    void queries.prefetchQuery(spacesQuery(org));
  },
  component: lazyRouteComponent(() => import("../pages/environments/Settings.tsx"), "Settings"),
});

const compare = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/diff",
  validateSearch: compareSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org }, deps: { from, to } }) => {
    if (from !== undefined && to !== undefined) void queries.prefetchQuery(differenceQuery(org, from, to));
  },
  component: lazyRouteComponent(() => import("../pages/compare/Compare.tsx"), "Compare"),
});

export const runtimeRoutes = [
  environments,
  newEnvironment,
  environment,
  snapshot,
  timeline,
  log,
  deployments,
  allowList,
  settings,
  compare,
] as const;
