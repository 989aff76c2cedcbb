import type { OperationAddress } from "../api/contract.ts";
import type { IconName } from "../ui/Icon.tsx";

/** Something to do that has its place on a page. */
interface Deed {
  words: string;
  icon: IconName;
  to: string;
  /** What it comes to, which the caller has to be allowed. */
  operation: OperationAddress;
}

/** What can be begun from anywhere. Paths as the router has them. */
export const deeds = [
  {
    words: "New environment",
    icon: "environments",
    to: "/$org/environments/-/new",
    operation: "PUT /environments/{org}",
  },
  {
    words: "New flow",
    icon: "flows",
    to: "/$org/flows/-/new",
    operation: "PUT /flows/{org}/template_file",
  },
  {
    words: "New policy",
    icon: "policies",
    to: "/$org/policies/-/new",
    operation: "PUT /policies/{org}",
  },
  {
    words: "New action",
    icon: "actions",
    to: "/$org/actions/-/new",
    operation: "PUT /actions/{org}/environments",
  },
  {
    words: "New attestation type",
    icon: "types",
    to: "/$org/attestation-types/-/new",
    operation: "POST /custom-attestation-types/{org}",
  },
  { words: "New control", icon: "controls", to: "/$org/controls", operation: "POST /controls/{org}" },
  { words: "New space", icon: "spaces", to: "/$org/spaces", operation: "POST /spaces/{org}" },
  {
    words: "Allow an artifact",
    icon: "allow",
    to: "/$org/allow-list",
    operation: "PUT /allowlists/{org}/{env_name}",
  },
  {
    words: "Invite somebody",
    icon: "user",
    to: "/$org/settings/members",
    operation: "POST /members/{org}/invitations",
  },
  {
    words: "New service account",
    icon: "user",
    to: "/$org/settings/service-accounts",
    operation: "POST /service-accounts/{org}",
  },
  {
    words: "New organization",
    icon: "spaces",
    to: "/-/organizations/new",
    operation: "POST /organizations",
  },
] as const satisfies readonly Deed[];

/** Pages that are no entry of the navigation, by what they are called. */
export const furtherPages = [
  { words: "Settings: general", icon: "settings", to: "/$org/settings/general" },
  { words: "Settings: members", icon: "settings", to: "/$org/settings/members" },
  { words: "Settings: service accounts", icon: "settings", to: "/$org/settings/service-accounts" },
  { words: "Settings: security", icon: "settings", to: "/$org/settings/security" },
  { words: "Profile", icon: "user", to: "/-/profile" },
  { words: "Organizations", icon: "spaces", to: "/-/organizations" },
  { words: "Instance: health", icon: "settings", to: "/-/instance/health" },
  { words: "Instance: backups", icon: "settings", to: "/-/instance/backups" },
  { words: "Instance: security", icon: "settings", to: "/-/instance/security" },
  { words: "Instance: log", icon: "settings", to: "/-/instance/log" },
] as const satisfies readonly Omit<Deed, "operation">[];
