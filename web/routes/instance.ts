import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";

import { accountQuery } from "../api/account.ts";
import {
  backupsQuery,
  healthQuery,
  instanceLogQuery,
  instanceLogSearch,
  instanceSecurityQuery,
} from "../pages/instance/queries.ts";
import { rootRoute } from "./root.ts";

const instance = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/instance",
  beforeLoad: () => {
    throw redirect({ to: "/-/instance/health", replace: true });
  },
});

const health = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/instance/health",
  loader: ({ context: { queries } }) => {
    void queries.prefetchQuery(accountQuery);
    void queries.prefetchQuery(healthQuery);
  },
  component: lazyRouteComponent(() => import("../pages/instance/Health.tsx"), "Health"),
});

const backups = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/instance/backups",
  loader: ({ context: { queries } }) => {
    void queries.prefetchQuery(accountQuery);
    void queries.prefetchQuery(backupsQuery);
  },
  component: lazyRouteComponent(() => import("../pages/instance/Backups.tsx"), "Backups"),
});

const security = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/instance/security",
  loader: ({ context: { queries } }) => {
    void queries.prefetchQuery(accountQuery);
    void queries.prefetchQuery(instanceSecurityQuery);
  },
  component: lazyRouteComponent(() => import("../pages/instance/Security.tsx"), "Security"),
});

const log = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/instance/log",
  validateSearch: instanceLogSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, deps }) => {
    void queries.prefetchQuery(accountQuery);
    void queries.prefetchQuery(instanceLogQuery(deps));
  },
  component: lazyRouteComponent(() => import("../pages/instance/Log.tsx"), "Log"),
});

/** Pages about the installation. */
export const instanceRoutes = [instance, health, backups, security, log] as const;
