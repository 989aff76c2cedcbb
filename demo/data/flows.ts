/** An artifact that a flow builds. */
export interface Component {
  /** Its name in the flow's template. */
  name: string;
  /** The file or image that comes out, without a version. */
  file: string;
}

/** A pipeline of the company. */
export interface Flow {
  name: string;
  description: string;
  /** Name of its repo. */
  repo: string;
  components: Component[];
  /** Key of its space. */
  space: string;
  tags: Record<string, string>;
  /** How often it runs, relative to the others. */
  weight: number;
}

/** The flows that build something. */
export const flows: readonly Flow[] = [
  {
    name: "storefront-ci",
    description: "Pages and assets of the shop",
    repo: "harborlight/storefront",
    components: [
      { name: "web", file: "registry/storefront-web" },
      { name: "assets", file: "storefront-assets.tgz" },
    ],
    space: "shop",
    tags: { team: "shop", risk: "high" },
    weight: 9,
  },
  {
    name: "checkout-ci",
    description: "Basket and payment",
    repo: "harborlight/checkout",
    components: [
      { name: "api", file: "registry/checkout-api" },
      { name: "worker", file: "registry/checkout-worker" },
    ],
    space: "shop",
    tags: { team: "shop", risk: "high", compliance: "pci" },
    weight: 8,
  },
  {
    name: "notifications-ci",
    description: "Mail and messages",
    repo: "harborlight/notifications",
    components: [{ name: "sender", file: "registry/notifications-sender" }],
    space: "shop",
    tags: { team: "shop", risk: "low" },
    weight: 4,
  },
  {
    name: "gateway-ci",
    description: "Edge proxy",
    repo: "platform/edge/gateway",
    components: [{ name: "gateway", file: "registry/gateway" }],
    space: "platform",
    tags: { team: "platform", risk: "high" },
    weight: 5,
  },
  {
    name: "identity-ci",
    description: "Accounts and sessions",
    repo: "platform/identity",
    components: [
      { name: "accounts", file: "registry/identity-accounts" },
      { name: "sessions", file: "registry/identity-sessions" },
      { name: "admin", file: "registry/identity-admin" },
    ],
    space: "platform",
    tags: { team: "platform", risk: "high", compliance: "gdpr" },
    weight: 5,
  },
  {
    name: "warehouse-ci",
    description: "Loads and reports",
    repo: "data/warehouse",
    components: [{ name: "loader", file: "warehouse-loader.whl" }],
    space: "data",
    tags: { team: "data", risk: "low" },
    weight: 4,
  },
  {
    name: "recommendations-ci",
    description: "Model and service",
    repo: "data/recommendations",
    components: [
      { name: "service", file: "registry/recommendations" },
      { name: "model", file: "recommendations-model.onnx" },
    ],
    space: "data",
    tags: { team: "data", risk: "medium" },
    weight: 3,
  },
  {
    name: "pocket-android",
    description: "The app, for Android",
    repo: "apps/pocket",
    components: [{ name: "bundle", file: "pocket.aab" }],
    space: "mobile",
    tags: { team: "mobile", store: "play" },
    weight: 3,
  },
  {
    name: "pocket-ios",
    description: "The app, for iOS",
    repo: "apps/pocket",
    components: [{ name: "archive", file: "pocket.ipa" }],
    space: "mobile",
    tags: { team: "mobile", store: "app-store" },
    weight: 2,
  },
  {
    name: "landscape",
    description: "Plans of what we run",
    repo: "operations/landscape",
    components: [{ name: "plan", file: "landscape.tfplan" }],
    space: "operations",
    tags: { team: "operations", risk: "high" },
    weight: 3,
  },
  {
    name: "erp-sync",
    description: "Orders to the books",
    repo: "erp-sync",
    components: [{ name: "jar", file: "erp-sync.jar" }],
    space: "back-office",
    tags: { team: "back-office", risk: "medium" },
    weight: 1,
  },
];

/** The flow that brings to production what others built: it reports fingerprints that are known already. */
export const releaseFlow: Flow = {
  name: "production-release",
  description: "What went live, and who agreed",
  repo: "operations/landscape",
  components: [],
  space: "operations",
  tags: { team: "operations", risk: "high" },
  weight: 0,
};
