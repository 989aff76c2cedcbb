import { companyDomain } from "./company.ts";

/** A source repository of the company. */
export interface Repo {
  /** Its path at the provider: the last segment follows its namespace. */
  name: string;
  /** The provider's own id; null where it has none. */
  id: string | null;
  provider: string;
  url: string;
  description: string;
  tags: Record<string, string>;
}

const github = `https://github.${companyDomain}`;
const gitlab = `https://gitlab.${companyDomain}`;

/** The company's repos. */
export const repos: readonly Repo[] = [
  {
    name: "harborlight/storefront",
    id: "48219330",
    provider: "github",
    url: `${github}/harborlight/storefront`,
    description: "The shop's pages",
    tags: { team: "shop", language: "typescript", tier: "1" },
  },
  {
    name: "harborlight/checkout",
    id: "48219341",
    provider: "github",
    url: `${github}/harborlight/checkout`,
    description: "Basket, payment, receipts",
    tags: { team: "shop", language: "kotlin", tier: "1", compliance: "pci" },
  },
  {
    name: "harborlight/notifications",
    id: "48219377",
    provider: "github",
    url: `${github}/harborlight/notifications`,
    description: "Mail, messages and their templates",
    tags: { team: "shop", language: "go", tier: "2" },
  },
  {
    name: "platform/edge/gateway",
    id: "1207",
    provider: "gitlab",
    url: `${gitlab}/platform/edge/gateway`,
    description: "The way in from outside",
    tags: { team: "platform", language: "go", tier: "1" },
  },
  {
    name: "platform/identity",
    id: "1214",
    provider: "gitlab",
    url: `${gitlab}/platform/identity`,
    description: "Accounts and sessions",
    tags: { team: "platform", language: "java", tier: "1", compliance: "gdpr" },
  },
  {
    name: "data/warehouse",
    id: "1302",
    provider: "gitlab",
    url: `${gitlab}/data/warehouse`,
    description: "Loads and reports",
    tags: { team: "data", language: "python", tier: "3" },
  },
  {
    name: "data/recommendations",
    id: "1311",
    provider: "gitlab",
    url: `${gitlab}/data/recommendations`,
    description: "What else you may like",
    tags: { team: "data", language: "python", tier: "2" },
  },
  {
    name: "apps/pocket",
    id: "{6f7c2c0e-88c1-4a55-9d8e-0b4f0c1a77d2}",
    provider: "bitbucket_cloud",
    url: `https://bitbucket.${companyDomain}/apps/pocket`,
    description: "The mobile app",
    tags: { team: "mobile", language: "kotlin", tier: "2" },
  },
  {
    name: "operations/landscape",
    id: "0d3c1a52-0f0b-4d9b-9f1e-6e0c5d1b2a44",
    provider: "azure_devops_services",
    url: `https://devops.${companyDomain}/operations/_git/landscape`,
    description: "Everything we run, described",
    tags: { team: "operations", language: "terraform", tier: "1" },
  },
  {
    name: "erp-sync",
    id: null,
    provider: "subversion",
    url: `https://svn.${companyDomain}/erp-sync`,
    description: "Orders to the books, since 2009",
    tags: { team: "back-office", language: "java", tier: "3" },
  },
];
