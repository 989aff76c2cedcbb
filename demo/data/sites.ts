import type { EnvironmentType } from "../../src/domain/environments.ts";

/** How many rounds of reports there are, and after how many of them the policies come into force. */
export const rounds = { total: 8, beforePolicies: 4 } as const;

/** Third parties' images: of the mesh, which the policies know; one to be allowed; and one that nobody wanted there. */
export const imageNames = {
  sidecar: "registry.mesh.example/sidecar:1.29.2",
  exporter: "registry.mesh.example/host-metrics:1.9.0",
  agent: "registry.mesh.example/task-agent:2",
  cache: "library.example/cache:8.1",
  toolbox: "library.example/debug-toolbox:latest",
} as const;

/** A key of `imageNames`. */
export type ImageKey = keyof typeof imageNames;

/** Images whose digest reporters do not know. */
export const imagesWithoutDigest: ReadonlySet<ImageKey> = new Set(["agent"]);

/** One of the flows' components, by the names of both. */
export interface Service {
  flow: string;
  component: string;
}

/** An environment that reports what runs there. */
export interface SiteData {
  name: string;
  type: Exclude<EnvironmentType, "logical">;
  stage: "staging" | "prod";
  services: readonly Service[];
  /** Third parties' images that run there. */
  images: readonly ImageKey[];
  /** Those that run there only from some round of reports on. */
  lateImages?: readonly { image: ImageKey; from: number }[];
  /** Names of the policies that are attached to it. */
  policies: readonly string[];
  /** Key of its space. */
  space: string;
  team: string;
}

const shop: readonly Service[] = [
  { flow: "storefront-ci", component: "web" },
  { flow: "checkout-ci", component: "api" },
  { flow: "checkout-ci", component: "worker" },
];
const identity: readonly Service[] = [
  { flow: "identity-ci", component: "accounts" },
  { flow: "identity-ci", component: "sessions" },
  { flow: "identity-ci", component: "admin" },
];
const gateway: readonly Service[] = [{ flow: "gateway-ci", component: "gateway" }];

const inShop = { space: "shop", team: "shop" };
const inPlatform = { space: "platform", team: "platform" };
const inData = { space: "data", team: "data" };

/** What sites of staging have in common: no policies. */
const staging = { stage: "staging", policies: [] } as const;
/** What sites of production have in common: every build has to be known. */
const prod = { stage: "prod", images: [], policies: ["known-origin"] } as const;

/** The sites: a few of every type. Their reports take as long for a large company as for a small one. */
export const siteData: readonly SiteData[] = [
  {
    name: "shop-staging",
    type: "K8S",
    ...staging,
    ...inShop,
    services: shop,
    images: ["sidecar", "cache"],
  },
  {
    name: "shop-prod",
    type: "K8S",
    ...prod,
    ...inShop,
    services: shop,
    images: ["sidecar", "cache"],
    // Somebody looked for a fault, and forgot it.
    lateImages: [{ image: "toolbox", from: rounds.total - 2 }],
    policies: ["known-origin", "tested-and-reviewed", "complete-trails"],
  },
  {
    name: "identity-staging",
    type: "ECS",
    ...staging,
    ...inPlatform,
    services: identity,
    images: ["agent"],
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
    images: ["exporter"],
  },
  {
    name: "gateway-prod",
    type: "docker",
    ...prod,
    ...inPlatform,
    services: gateway,
    images: ["exporter"],
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

/** Names of the site the reader is shown around, and of the one its builds come through. */
export const shown = { prod: "shop-prod", staging: "shop-staging" } as const;

/** The region of all sites. */
export const siteRegion = "eu-central";

/** What sites are for, by stage. */
export const sitePurposes = { staging: "where it is tried", prod: "where customers are" };

/** The logical environments that combine the sites of a stage, and are in the space `operations`. */
export const combinedEnvironments = [
  { stage: "prod", name: "production", description: "Everything customers see" },
  { stage: "staging", name: "staging", description: "Everything before production" },
] as const;
