import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";

import {
  actionQuery,
  actionSearch,
  actionsQuery,
  actionsSearch,
  deliveriesQuery,
  newActionSearch,
} from "../pages/actions/queries.ts";
import { auditSearch, membershipQuery, writesQuery } from "../pages/audit/queries.ts";
import {
  deliveriesQuery as qualityDeliveriesQuery,
  integrationsQuery,
  integrationsSearch,
} from "../pages/integrations/queries.ts";
import {
  accountsSearch,
  membersQuery,
  membersSearch,
  organizationQuery,
  securityQuery,
  serviceAccountsQuery,
} from "../pages/settings/queries.ts";
import { environmentsInQuery, flowsInQuery, spacesSearch } from "../pages/spaces/queries.ts";
import { spacesQuery } from "../parts/spaces.ts";
import { anewFor } from "./anew.ts";
import { organizationRoute } from "./root.ts";

const auditLog = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/audit-log",
  validateSearch: auditSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org }, deps }) => {
    if (deps.kind === "members") void queries.prefetchQuery(membershipQuery(org, deps));
    else void queries.prefetchQuery(writesQuery(org, deps));
  },
  component: lazyRouteComponent(() => import("../pages/audit/AuditLog.tsx"), "AuditLog"),
});

const settings = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/settings",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$org/settings/general", params, replace: true });
  },
});

const general = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/settings/general",
  loader: ({ context, params: { org } }) => void context.queries.prefetchQuery(organizationQuery(org)),
  component: lazyRouteComponent(() => import("../pages/settings/General.tsx"), "General"),
});

const members = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/settings/members",
  validateSearch: membersSearch,
  loader: ({ context, params: { org } }) => void context.queries.prefetchQuery(membersQuery(org)),
  component: lazyRouteComponent(() => import("../pages/settings/Members.tsx"), "Members"),
});

const serviceAccounts = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/settings/service-accounts",
  validateSearch: accountsSearch,
  loader: ({ context, params: { org } }) => void context.queries.prefetchQuery(serviceAccountsQuery(org)),
  component: lazyRouteComponent(() => import("../pages/settings/ServiceAccounts.tsx"), "ServiceAccounts"),
});

const security = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/settings/security",
  loader: ({ context, params: { org } }) => void context.queries.prefetchQuery(securityQuery(org)),
  component: lazyRouteComponent(() => import("../pages/settings/Security.tsx"), "Security"),
});

const actions = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/actions",
  validateSearch: actionsSearch,
  loader: ({ context, params: { org } }) => void context.queries.prefetchQuery(actionsQuery(org)),
  component: lazyRouteComponent(() => import("../pages/actions/Actions.tsx"), "Actions"),
});

const newAction = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/actions/-/new",
  validateSearch: newActionSearch,
  component: lazyRouteComponent(() => import("../pages/actions/NewAction.tsx"), "NewAction"),
});

const action = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/actions/$number",
  remountDeps: anewFor("number"),
  validateSearch: actionSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org, number }, deps }) => {
    void queries.prefetchQuery(actionQuery(org, number));
    if (deps.edit !== true) void queries.prefetchQuery(deliveriesQuery(org, number, deps));
  },
  component: lazyRouteComponent(() => import("../pages/actions/Action.tsx"), "Action"),
});

const integrations = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/integrations",
  validateSearch: integrationsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org }, deps }) => {
    void queries.prefetchQuery(integrationsQuery(org));
    void queries.prefetchQuery(qualityDeliveriesQuery(org, deps));
  },
  component: lazyRouteComponent(() => import("../pages/integrations/Integrations.tsx"), "Integrations"),
});

const spaces = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/spaces",
  validateSearch: spacesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, params: { org }, deps: { space } }) => {
    void queries.prefetchQuery(spacesQuery(org));
    void queries.prefetchQuery(environmentsInQuery(org, space));
    void queries.prefetchQuery(flowsInQuery(org, space));
  },
  component: lazyRouteComponent(() => import("../pages/spaces/Spaces.tsx"), "Spaces"),
});

export const administrationRoutes = [
  actions,
  newAction,
  action,
  integrations,
  spaces,
  auditLog,
  settings,
  general,
  members,
  serviceAccounts,
  security,
] as const;
