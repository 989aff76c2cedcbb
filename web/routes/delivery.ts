import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { trailSearch } from "../domain/trail-search.ts";
import {
  artifactsQuery,
  artifactsSearch,
  flowQuery,
  flowsQuery,
  flowsSearch,
  matrixQuery,
  statisticsQuery,
  statisticsSearch,
} from "../pages/flows/queries.ts";
import {
  attestationQuery,
  explanationQuery,
  oneTrailQuery,
  oneTrailSearch,
  trailsQuery,
  trailsSearch,
} from "../pages/trails/queries.ts";
import { anewFor } from "./anew.ts";
import { organizationRoute } from "./root.ts";

const flows = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows",
  validateSearch: flowsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => void context.queries.prefetchQuery(flowsQuery(params.org, deps)),
  component: lazyRouteComponent(() => import("../pages/flows/Flows.tsx"), "Flows"),
});

const newFlow = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/-/new",
  component: lazyRouteComponent(() => import("../pages/flows/NewFlow.tsx"), "NewFlow"),
});

const flow = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/$flow",
  remountDeps: anewFor("flow"),
  validateSearch: trailSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params, deps }) => {
    void queries.prefetchQuery(flowQuery(params.org, params.flow));
    void queries.prefetchQuery(matrixQuery(params.org, params.flow, deps, Date.now() / 1000));
  },
  component: lazyRouteComponent(() => import("../pages/flows/Flow.tsx"), "Flow"),
});

const trail = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/$flow/trails/$trail",
  validateSearch: oneTrailSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params, deps: { attestation_id } }) => {
    void queries.prefetchQuery(oneTrailQuery(params));
    void queries.prefetchQuery(explanationQuery(params));
    if (attestation_id !== undefined)
      void queries.prefetchQuery(attestationQuery(params.org, attestation_id));
  },
  component: lazyRouteComponent(() => import("../pages/trails/Trail.tsx"), "Trail"),
});

const artifacts = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/$flow/artifacts",
  remountDeps: anewFor("flow"),
  validateSearch: artifactsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org, flow: name }, deps }) => {
    void queries.prefetchQuery(flowQuery(org, name));
    void queries.prefetchQuery(artifactsQuery(org, name, deps));
  },
  component: lazyRouteComponent(() => import("../pages/flows/FlowArtifacts.tsx"), "FlowArtifacts"),
});

const template = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/$flow/template",
  remountDeps: anewFor("flow"),
  loader: ({ context: { queries }, params: { org, flow: name } }) =>
    void queries.prefetchQuery(flowQuery(org, name)),
  component: lazyRouteComponent(() => import("../pages/flows/FlowTemplate.tsx"), "FlowTemplate"),
});

const statistics = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/$flow/statistics",
  remountDeps: anewFor("flow"),
  validateSearch: statisticsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org, flow: name }, deps }) => {
    void queries.prefetchQuery(flowQuery(org, name));
    void queries.prefetchQuery(statisticsQuery(org, name, deps, Date.now() / 1000));
  },
  component: lazyRouteComponent(() => import("../pages/flows/FlowStatistics.tsx"), "FlowStatistics"),
});

const settings = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/$flow/settings",
  remountDeps: anewFor("flow"),
  loader: ({ context: { queries }, params: { org, flow: name } }) =>
    void queries.prefetchQuery(flowQuery(org, name)),
  component: lazyRouteComponent(() => import("../pages/flows/FlowSettings.tsx"), "FlowSettings"),
});

const trails = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/trails",
  validateSearch: trailsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params, deps }) =>
    void queries.prefetchQuery(trailsQuery(params.org, deps, Date.now() / 1000)),
  component: lazyRouteComponent(() => import("../pages/trails/Trails.tsx"), "Trails"),
});

export const deliveryRoutes = [
  flows,
  newFlow,
  flow,
  artifacts,
  template,
  statistics,
  settings,
  trail,
  trails,
] as const;
