import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { definitionText, draftOf } from "../../domain/type-draft.ts";
import { Versions } from "../../parts/Versions.tsx";
import type { TypeVersion } from "./queries.ts";

const route = getRouteApi("/$org/attestation-types/$type");

function VersionLink({
  version,
  isShown,
  children,
}: {
  version: number;
  isShown: boolean;
  children: ReactNode;
}) {
  const { org, type } = route.useParams();
  return (
    <Link
      to="/$org/attestation-types/$type"
      params={{ org, type }}
      search={{ tab: "versions", to: version }}
      activeOptions={{ exact: true }}
      aria-current={isShown ? "page" : undefined}
    >
      {children}
    </Link>
  );
}

/** The versions of a type, and what one changed against another. @param versions the newest first. */
export function TypeVersions({ versions }: { versions: readonly TypeVersion[] }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Versions
      versions={versions.toReversed().map(({ version, timestamp, created_by, ...definition }) => ({
        version,
        timestamp,
        created_by,
        text: definitionText(draftOf(definition, undefined)),
      }))}
      from={from}
      to={to}
      VersionLink={VersionLink}
      onCompare={(version) => void navigate({ search: (before) => ({ ...before, from: version }) })}
    />
  );
}
