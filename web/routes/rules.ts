import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { allowListSearch } from "../pages/allow-list/queries.ts";
import { typeQuery, typeSearch, typesSearch } from "../pages/attestation-types/queries.ts";
import { controlQuery, controlSearch, controlsQuery, controlsSearch } from "../pages/controls/queries.ts";
import {
  editorSearch,
  policiesSearch,
  policyEnvironmentsQuery,
  policyQuery,
  policySearch,
} from "../pages/policies/queries.ts";
import { allowListQuery, ownTypesQuery, policiesQuery } from "../parts/queries.ts";
import { anewFor } from "./anew.ts";
import { organizationRoute } from "./root.ts";

const policies = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/policies",
  validateSearch: policiesSearch,
  loader: ({ context, params }) => void context.queries.prefetchQuery(policiesQuery(params.org)),
  component: lazyRouteComponent(() => import("../pages/policies/Policies.tsx"), "Policies"),
});

const policy = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/policies/$policy",
  remountDeps: anewFor("policy"),
  validateSearch: policySearch,
  loaderDeps: ({ search: { page } }) => ({ page }),
  loader: ({ context: { queries }, params: { org, policy }, deps: { page } }) => {
    void queries.prefetchQuery(policyQuery(org, policy));
    void queries.prefetchQuery(policyEnvironmentsQuery(org, policy, page));
  },
  component: lazyRouteComponent(() => import("../pages/policies/Policy.tsx"), "Policy"),
});

const newPolicy = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/policies/-/new",
  validateSearch: editorSearch,
  component: lazyRouteComponent(() => import("../pages/policies/PolicyEditor.tsx"), "NewPolicy"),
});

const editPolicy = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/policies/$policy/edit",
  remountDeps: anewFor("policy"),
  validateSearch: editorSearch,
  loader: ({ context: { queries }, params: { org, policy } }) =>
    void queries.prefetchQuery(policyQuery(org, policy)),
  component: lazyRouteComponent(() => import("../pages/policies/PolicyEditor.tsx"), "EditPolicy"),
});

const controls = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/controls",
  validateSearch: controlsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => void context.queries.prefetchQuery(controlsQuery(params.org, deps)),
  component: lazyRouteComponent(() => import("../pages/controls/Controls.tsx"), "Controls"),
});

const control = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/controls/$control",
  remountDeps: anewFor("control"),
  validateSearch: controlSearch,
  loader: ({ context: { queries }, params: { org, control } }) =>
    void queries.prefetchQuery(controlQuery(org, control)),
  component: lazyRouteComponent(() => import("../pages/controls/Control.tsx"), "Control"),
});

const attestationTypes = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/attestation-types",
  validateSearch: typesSearch,
  loader: ({ context, params }) => void context.queries.prefetchQuery(ownTypesQuery(params.org)),
  component: lazyRouteComponent(
    () => import("../pages/attestation-types/AttestationTypes.tsx"),
    "AttestationTypes",
  ),
});

const attestationType = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/attestation-types/$type",
  remountDeps: anewFor("type"),
  validateSearch: typeSearch,
  loader: ({ context: { queries }, params: { org, type } }) =>
    void queries.prefetchQuery(typeQuery(org, type)),
  component: lazyRouteComponent(
    () => import("../pages/attestation-types/AttestationType.tsx"),
    "AttestationType",
  ),
});

const newType = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/attestation-types/-/new",
  component: lazyRouteComponent(() => import("../pages/attestation-types/TypeEditor.tsx"), "NewType"),
});

const editType = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/attestation-types/$type/edit",
  remountDeps: anewFor("type"),
  loader: ({ context: { queries }, params: { org, type } }) =>
    void queries.prefetchQuery(typeQuery(org, type)),
  component: lazyRouteComponent(() => import("../pages/attestation-types/TypeEditor.tsx"), "EditType"),
});

const allowList = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/allow-list",
  validateSearch: allowListSearch,
  loader: ({ context, params }) => void context.queries.prefetchQuery(allowListQuery(params.org)),
  component: lazyRouteComponent(() => import("../pages/allow-list/AllowList.tsx"), "AllowList"),
});

export const rulesRoutes = [
  policies,
  policy,
  newPolicy,
  editPolicy,
  controls,
  control,
  attestationTypes,
  attestationType,
  newType,
  editType,
  allowList,
] as const;
