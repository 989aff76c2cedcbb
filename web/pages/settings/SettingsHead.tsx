import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { PageHead } from "../../shell/PageHead.tsx";

const tabs = [
  ["/$org/settings/general", "General"],
  ["/$org/settings/members", "Members"],
  ["/$org/settings/service-accounts", "Service accounts"],
  ["/$org/settings/security", "Security"],
] as const;

/** The head of all pages of settings. */
export function SettingsHead({ org, actions }: { org: string; actions?: ReactNode }) {
  return (
    <PageHead
      title="Settings"
      actions={actions}
      tabs={tabs.map(([to, words]) => (
        <Link key={to} to={to} params={{ org }} activeOptions={{ exact: true, includeSearch: false }}>
          {words}
        </Link>
      ))}
    />
  );
}
