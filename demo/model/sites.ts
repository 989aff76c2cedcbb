import { createHash } from "node:crypto";

import type { EnvironmentType } from "../../src/domain/environments.ts";
import type { Environment } from "./environments.ts";

/** An image that none of the company's flows built. */
export interface ForeignImage {
  name: string;
  /** Empty: its digest is not known. */
  fingerprint: string;
}

/** One of the flows' components, by the names of both. */
export interface Service {
  flow: string;
  component: string;
}

/** An environment that reports what runs there. */
export interface Site {
  name: string;
  type: Exclude<EnvironmentType, "logical">;
  stage: "staging" | "prod";
  services: readonly Service[];
  /** What else runs there, and since which round of reports. */
  images: readonly { image: ForeignImage; from: number }[];
  /** Names of the policies that are attached to it. */
  policies: readonly string[];
  space: string;
  team: string;
}

/** Rounds of reports. The policies come into force after so many of them. */
export const rounds = { total: 8, beforePolicies: 4 } as const;

function image(name: string): ForeignImage {
  return { name, fingerprint: createHash("sha256").update(`image ${name}`).digest("hex") };
}

/** Third parties' images: of the mesh, which the policies know; one to be allowed; and one that nobody wanted there. */
export const images = {
  sidecar: image("registry.mesh.example/sidecar:1.29.2"),
  exporter: image("registry.mesh.example/host-metrics:1.9.0"),
  agent: { name: "registry.mesh.example/task-agent:2", fingerprint: "" },
  cache: image("library.example/cache:8.1"),
  toolbox: image("library.example/debug-toolbox:latest"),
} as const satisfies Record<string, ForeignImage>;

const shop: readonly Service[] = [
  { flow: "storefront-ci", component: "web" },
  { flow: "checkout-ci", component: "api" },
  { flow: "checkout-ci", component: "worker" },
];
const identity: readonly Service[] = ["accounts", "sessions", "admin"].map((component) => ({
  flow: "identity-ci",
  component,
}));
const gateway: readonly Service[] = [{ flow: "gateway-ci", component: "gateway" }];

const always = (...all: ForeignImage[]): Site["images"] => all.map((each) => ({ image: each, from: 0 }));

const inShop = { space: "shop", team: "shop" };
const inPlatform = { space: "platform", team: "platform" };
const inData = { space: "data", team: "data" };

/** Staging. No policy there. */
const staging = { stage: "staging", policies: [] } as const;
/** Production, where every build has to be known. */
const prod = { stage: "prod", images: [], policies: ["known-origin"] } as const;

/** A few environments of every kind that reports: what they report takes as long for a large company as for a small one. */
export const sites: readonly Site[] = [
  {
    name: "shop-staging",
    type: "K8S",
    ...staging,
    ...inShop,
    services: shop,
    images: always(images.sidecar, images.cache),
  },
  {
    name: "shop-prod",
    type: "K8S",
    ...prod,
    ...inShop,
    services: shop,
    images: [
      ...always(images.sidecar, images.cache),
      // Somebody looked for a fault, and forgot it.
      { image: images.toolbox, from: rounds.total - 2 },
    ],
    policies: ["known-origin", "tested-and-reviewed", "complete-trails"],
  },
  {
    name: "identity-staging",
    type: "ECS",
    ...staging,
    ...inPlatform,
    services: identity,
    images: always(images.agent),
  },
  {
    name: "identity-prod",
    type: "ECS",
    ...prod,
    ...inPlatform,
    services: identity,
    policies: ["known-origin", "tested-and-reviewed"],
  },
  {
    name: "gateway-staging",
    type: "docker",
    ...staging,
    ...inPlatform,
    services: gateway,
    images: always(images.exporter),
  },
  {
    name: "gateway-prod",
    type: "docker",
    ...prod,
    ...inPlatform,
    services: gateway,
    images: always(images.exporter),
    policies: ["known-origin", "tested-and-reviewed"],
  },
  {
    name: "assets-prod",
    type: "S3",
    ...prod,
    ...inShop,
    services: [{ flow: "storefront-ci", component: "assets" }],
  },
  {
    name: "notifications-prod",
    type: "lambda",
    ...prod,
    ...inShop,
    services: [{ flow: "notifications-ci", component: "sender" }],
  },
  {
    name: "warehouse-prod",
    type: "server",
    ...prod,
    ...inData,
    services: [{ flow: "warehouse-ci", component: "loader" }],
  },
  {
    name: "recommendations-prod",
    type: "cloud-run",
    ...prod,
    ...inData,
    services: [{ flow: "recommendations-ci", component: "service" }],
  },
  {
    name: "erp-prod",
    type: "azure-apps",
    ...prod,
    space: "back-office",
    team: "back-office",
    services: [{ flow: "erp-sync", component: "jar" }],
  },
];

/** The site the reader is shown around, and the one its builds come through. */
export const shown = { prod: "shop-prod", staging: "shop-staging" } as const;

const purposes = { staging: "where it is tried", prod: "where customers are" };
const region = "eu-central";

function combined(stage: Site["stage"]): Environment {
  return {
    name: stage === "prod" ? "production" : "staging",
    type: "logical",
    description: stage === "prod" ? "Everything customers see" : "Everything before production",
    tags: { stage, view: "combined" },
    space: "operations",
    members: sites.filter((site) => site.stage === stage).map((site) => site.name),
    fate: { kind: "lives" },
  };
}

/** The environments of the sites, and the two logical ones that combine them by stage. */
export function makeSiteEnvironments(): Environment[] {
  const physical = sites.map(({ name, type, stage, services, space, team }): Environment => ({
    name,
    type,
    description: `${[...new Set(services.map((service) => service.component))].join(", ")}: ${purposes[stage]}`,
    tags: { team, stage, region, ...(stage === "prod" ? { tier: "1" } : {}) },
    space,
    members: [],
    fate: { kind: "lives" },
  }));
  return [...physical, combined("prod"), combined("staging")];
}
