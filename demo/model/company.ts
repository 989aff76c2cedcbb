import { companyDomain } from "./people.ts";

/** A node of the tree of spaces; `parent` is the `key` of another one that comes earlier. */
export interface Space {
  key: string;
  name: string;
  parent: string | null;
}

/** A source repository, as `repo_info` describes it. */
export interface Repo {
  name: string;
  /** What the provider calls it by; some providers have no such id. */
  id: string | null;
  provider: string;
  url: string;
  namespace_path: string[];
  description: string;
  tags: Record<string, string>;
}

/** What a flow builds: its name in the template and the file or image that comes out. */
export interface Component {
  name: string;
  file: string;
}

export interface Flow {
  name: string;
  description: string;
  /** Name of its repo. */
  repo: string;
  components: Component[];
  space: string;
  tags: Record<string, string>;
  /** How often it runs, relative to the others. */
  weight: number;
}

export const spaces: readonly Space[] = [
  { key: "engineering", name: "Engineering", parent: null },
  { key: "shop", name: "Shop", parent: "engineering" },
  { key: "platform", name: "Platform", parent: "engineering" },
  { key: "data", name: "Data", parent: "engineering" },
  { key: "mobile", name: "Mobile", parent: "engineering" },
  { key: "operations", name: "Operations", parent: null },
  { key: "networks", name: "Networks", parent: "operations" },
  { key: "back-office", name: "Back office", parent: null },
];

const github = `https://github.${companyDomain}`;
const gitlab = `https://gitlab.${companyDomain}`;

function repo(name: string, rest: Omit<Repo, "name" | "namespace_path">): Repo {
  return { name, namespace_path: name.split("/").slice(0, -1), ...rest };
}

export const repos: readonly Repo[] = [
  repo("harborlight/storefront", {
    id: "48219330",
    provider: "github",
    url: `${github}/harborlight/storefront`,
    description: "The shop's pages",
    tags: { team: "shop", language: "typescript", tier: "1" },
  }),
  repo("harborlight/checkout", {
    id: "48219341",
    provider: "github",
    url: `${github}/harborlight/checkout`,
    description: "Basket, payment, receipts",
    tags: { team: "shop", language: "kotlin", tier: "1", compliance: "pci" },
  }),
  repo("harborlight/notifications", {
    id: "48219377",
    provider: "github",
    url: `${github}/harborlight/notifications`,
    description: "Mail, messages and their templates",
    tags: { team: "shop", language: "go", tier: "2" },
  }),
  repo("platform/edge/gateway", {
    id: "1207",
    provider: "gitlab",
    url: `${gitlab}/platform/edge/gateway`,
    description: "The way in from outside",
    tags: { team: "platform", language: "go", tier: "1" },
  }),
  repo("platform/identity", {
    id: "1214",
    provider: "gitlab",
    url: `${gitlab}/platform/identity`,
    description: "Accounts and sessions",
    tags: { team: "platform", language: "java", tier: "1", compliance: "gdpr" },
  }),
  repo("data/warehouse", {
    id: "1302",
    provider: "gitlab",
    url: `${gitlab}/data/warehouse`,
    description: "Loads and reports",
    tags: { team: "data", language: "python", tier: "3" },
  }),
  repo("data/recommendations", {
    id: "1311",
    provider: "gitlab",
    url: `${gitlab}/data/recommendations`,
    description: "What else you may like",
    tags: { team: "data", language: "python", tier: "2" },
  }),
  repo("apps/pocket", {
    id: "{6f7c2c0e-88c1-4a55-9d8e-0b4f0c1a77d2}",
    provider: "bitbucket_cloud",
    url: `https://bitbucket.${companyDomain}/apps/pocket`,
    description: "The mobile app",
    tags: { team: "mobile", language: "kotlin", tier: "2" },
  }),
  repo("operations/landscape", {
    id: "0d3c1a52-0f0b-4d9b-9f1e-6e0c5d1b2a44",
    provider: "azure_devops_services",
    url: `https://devops.${companyDomain}/operations/_git/landscape`,
    description: "Everything we run, described",
    tags: { team: "operations", language: "terraform", tier: "1" },
  }),
  repo("erp-sync", {
    id: null,
    provider: "subversion",
    url: `https://svn.${companyDomain}/erp-sync`,
    description: "Orders to the books, since 2009",
    tags: { team: "back-office", language: "java", tier: "3" },
  }),
];

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

/** Brings what other flows built to production: it reports fingerprints that are known already. */
export const releaseFlow: Flow = {
  name: "production-release",
  description: "What went live, and who agreed",
  repo: "operations/landscape",
  components: [],
  space: "operations",
  tags: { team: "operations", risk: "high" },
  weight: 0,
};

/** The repo a flow builds from. */
export function repoOf(flow: Flow): Repo {
  const found = repos.find((candidate) => candidate.name === flow.repo);
  if (found === undefined) throw new Error(`Flow ${flow.name} has no repo`);
  return found;
}

/** The flow's template: a passed quality check for each run, and the artifacts that come out. */
export function templateOf(flow: Flow): string {
  const lines = ["version: 1", "trail:", "  attestations:", "    - name: sonar", "      type: sonar"];
  if (flow.components.length > 0) lines.push("  artifacts:");
  for (const component of flow.components) lines.push(`    - name: ${component.name}`);
  return `${lines.join("\n")}\n`;
}
