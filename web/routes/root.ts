import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { accountQuery, organizationsQuery } from "../api/account.ts";
import { NotFound } from "../shell/NotFound.tsx";
import { OrganizationFrame } from "../shell/OrganizationFrame.tsx";
import { Root } from "../shell/Root.tsx";

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Root,
  notFoundComponent: NotFound,
});

/** All pages of one organization stand in its frame. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/$org",
  loader: ({ context: { queries } }) => {
    void queries.prefetchQuery(accountQuery);
    void queries.prefetchQuery(organizationsQuery);
  },
  component: OrganizationFrame,
});

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/account/Home.tsx"), "Home"),
});
