import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { signInMethodsQuery } from "../api/account.ts";
import { reads, text } from "../domain/search-params.ts";
import { profileSearch } from "../pages/account/queries.ts";
import { rootRoute } from "./root.ts";

const signInSearch = reads({ next: text });

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/sign-in",
  validateSearch: signInSearch,
  loader: ({ context: { queries } }) => void queries.prefetchQuery(signInMethodsQuery),
  component: lazyRouteComponent(() => import("../pages/account/SignIn.tsx"), "SignIn"),
});

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/invitation",
  component: lazyRouteComponent(() => import("../pages/account/Invitation.tsx"), "Invitation"),
});

const profile = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/profile",
  validateSearch: profileSearch,
  component: lazyRouteComponent(() => import("../pages/account/Profile.tsx"), "Profile"),
});

const organizations = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/organizations",
  component: lazyRouteComponent(() => import("../pages/account/Organizations.tsx"), "Organizations"),
});

const newOrganization = createRoute({
  getParentRoute: () => rootRoute,
  path: "/-/organizations/new",
  component: lazyRouteComponent(() => import("../pages/account/NewOrganization.tsx"), "NewOrganization"),
});

export const accountRoutes = [signIn, invitation, profile, organizations, newOrganization] as const;
