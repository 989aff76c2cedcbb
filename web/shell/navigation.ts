import type { IconName } from "../ui/Icon.tsx";

/** An entry of the navigation. The key after `g` goes there. */
export interface Destination {
  to: string;
  words: string;
  icon: IconName;
  key?: string;
}

/** Where the navigation of an organization leads, in groups. Paths as the router has them. */
export const navigation = [
  {
    title: "Overview",
    entries: [
      { to: "/$org", words: "Start", icon: "home", key: "s" },
      { to: "/$org/running", words: "What runs", icon: "running", key: "r" },
      { to: "/$org/changes", words: "Changes", icon: "changes", key: "c" },
    ],
  },
  {
    title: "Runtime",
    entries: [
      { to: "/$org/environments", words: "Environments", icon: "environments", key: "e" },
      { to: "/$org/diff", words: "Compare", icon: "compare" },
    ],
  },
  {
    title: "Delivery",
    entries: [
      { to: "/$org/flows", words: "Flows", icon: "flows", key: "f" },
      { to: "/$org/trails", words: "Trails", icon: "trails", key: "t" },
      { to: "/$org/attestations", words: "Attestations", icon: "attestations" },
      { to: "/$org/repos", words: "Repos", icon: "repos", key: "o" },
    ],
  },
  {
    title: "Rules",
    entries: [
      { to: "/$org/policies", words: "Policies", icon: "policies", key: "p" },
      { to: "/$org/controls", words: "Controls", icon: "controls" },
      { to: "/$org/attestation-types", words: "Attestation types", icon: "types" },
      { to: "/$org/allow-list", words: "Allow-list", icon: "allow" },
    ],
  },
  {
    title: "Organization",
    entries: [
      { to: "/$org/actions", words: "Actions", icon: "actions" },
      { to: "/$org/integrations", words: "Integrations", icon: "integrations" },
      { to: "/$org/spaces", words: "Spaces", icon: "spaces" },
      { to: "/$org/audit-log", words: "Audit log", icon: "audit" },
      { to: "/$org/settings", words: "Settings", icon: "settings" },
    ],
  },
] as const satisfies readonly { title?: string; entries: readonly Destination[] }[];
