import type { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";

import { basePath } from "./api/client.ts";
import { parseSearch, stringifySearch } from "./domain/search-params.ts";
import { accountRoutes } from "./routes/account.ts";
import { administrationRoutes } from "./routes/administration.ts";
import { deliveryRoutes } from "./routes/delivery.ts";
import { artifactRoutes } from "./routes/artifacts.ts";
import { instanceRoutes } from "./routes/instance.ts";
import { homeRoute, organizationRoute, rootRoute } from "./routes/root.ts";
import { rulesRoutes } from "./routes/rules.ts";
import { runtimeRoutes } from "./routes/runtime.ts";
import { startRoutes } from "./routes/start.ts";
import { Broken } from "./shell/Broken.tsx";

const routeTree = rootRoute.addChildren([
  homeRoute,
  ...accountRoutes,
  ...instanceRoutes,
  organizationRoute.addChildren([
    ...startRoutes,
    ...runtimeRoutes,
    ...administrationRoutes,
    ...deliveryRoutes,
    ...artifactRoutes,
    ...rulesRoutes,
  ]),
]);

/** Makes the router of all pages; paths.ts names them for the server. */
export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    basepath: basePath,
    parseSearch,
    stringifySearch,
    defaultErrorComponent: Broken,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    trailingSlash: "never",
  });
}

export type AppRouter = ReturnType<typeof createAppRouter>;

declare module "@tanstack/react-router" {
  // A declaration that joins the router's own.
  interface Register {
    router: AppRouter;
  }
}
