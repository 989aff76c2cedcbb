import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Versions } from "../../parts/Versions.tsx";
import { Stack } from "../../ui/Layout.tsx";
import { PolicyHistory } from "./PolicyHistory.tsx";
import type { Policy } from "./queries.ts";

const route = getRouteApi("/$org/policies/$policy");

function VersionLink({
  version,
  isShown,
  children,
}: {
  version: number;
  isShown: boolean;
  children: ReactNode;
}) {
  const { org, policy } = route.useParams();
  return (
    <Link
      to="/$org/policies/$policy"
      params={{ org, policy }}
      search={{ tab: "versions", to: version }}
      activeOptions={{ exact: true }}
      aria-current={isShown ? "page" : undefined}
    >
      {children}
    </Link>
  );
}

/** The versions of a policy, what one changed against another: the one before, unless the address says which; and who did what to it. */
export function PolicyVersions({ policy }: { policy: Policy }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <Versions
        versions={policy.versions.map(({ policy_yaml, ...version }) => ({ ...version, text: policy_yaml }))}
        from={from}
        to={to}
        VersionLink={VersionLink}
        onCompare={(version) => void navigate({ search: (before) => ({ ...before, from: version }) })}
      />
      <PolicyHistory policy={policy} />
    </Stack>
  );
}
