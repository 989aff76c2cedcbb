import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import {
  anyArtifactSearch,
  artifactQuery,
  artifactSearch,
  commitAttestationsQuery,
  explanationQuery,
  foundQuery,
  provenanceQuery,
} from "../pages/artifacts/queries.ts";
import { attestationsSearch } from "../pages/attestations/queries.ts";
import { repoQuery, repoSearch, reposQuery, reposSearch } from "../pages/repos/queries.ts";
import { organizationRoute } from "./root.ts";

/** A commit or a fingerprint that is not only the beginning of one. */
const isWhole = (digest: string, length: 40 | 64): boolean => digest.length === length;

const artifact = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/flows/$flow/artifacts/$fingerprint",
  validateSearch: artifactSearch,
  loaderDeps: ({ search: { trail, artifact_id } }) => ({ trail, artifact_id }),
  loader: ({ context: { queries }, params, deps }) => {
    const { org, fingerprint } = params;
    void queries.prefetchQuery(artifactQuery({ ...params, ...deps }));
    void queries.prefetchQuery(explanationQuery({ ...params, ...deps }));
    if (!isWhole(fingerprint, 64)) return;
    void queries.prefetchQuery(provenanceQuery(org, fingerprint));
    void queries.prefetchQuery(foundQuery(org, fingerprint));
  },
  component: lazyRouteComponent(() => import("../pages/artifacts/Artifact.tsx"), "Artifact"),
});

const anyArtifact = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/artifacts/$fingerprint",
  validateSearch: anyArtifactSearch,
  loader: ({ context: { queries }, params: { org, fingerprint } }) => {
    void queries.prefetchQuery(foundQuery(org, fingerprint));
    if (isWhole(fingerprint, 64)) void queries.prefetchQuery(provenanceQuery(org, fingerprint));
  },
  component: lazyRouteComponent(() => import("../pages/artifacts/AnyArtifact.tsx"), "AnyArtifact"),
});

const commit = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/commits/$sha",
  loader: ({ context: { queries }, params: { org, sha } }) => {
    void queries.prefetchQuery(foundQuery(org, sha));
    if (isWhole(sha, 40)) void queries.prefetchQuery(commitAttestationsQuery(org, sha));
  },
  component: lazyRouteComponent(() => import("../pages/artifacts/Commit.tsx"), "Commit"),
});

const attestations = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/attestations",
  validateSearch: attestationsSearch,
  component: lazyRouteComponent(() => import("../pages/attestations/Attestations.tsx"), "Attestations"),
});

const repoArea = createRoute({ getParentRoute: () => organizationRoute, path: "/repos" });

const repos = createRoute({
  getParentRoute: () => repoArea,
  path: "/",
  validateSearch: reposSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => void context.queries.prefetchQuery(reposQuery(params.org, deps)),
  component: lazyRouteComponent(() => import("../pages/repos/Repos.tsx"), "Repos"),
});

const repo = createRoute({
  getParentRoute: () => repoArea,
  path: "$",
  validateSearch: repoSearch,
  loaderDeps: ({ search: { id } }) => ({ id }),
  loader: ({ context, params: { org, _splat: name = "" }, deps: { id } }) =>
    void context.queries.prefetchQuery(repoQuery(org, name, id)),
  component: lazyRouteComponent(() => import("../pages/repos/Repo.tsx"), "Repo"),
});

export const artifactRoutes = [
  artifact,
  anyArtifact,
  commit,
  attestations,
  repoArea.addChildren([repos, repo]),
] as const;
