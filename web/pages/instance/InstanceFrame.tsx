import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { PageHead } from "../../shell/PageHead.tsx";
import { AccountFrame } from "../account/AccountFrame.tsx";
import { instancePages } from "./pages.ts";

/** The frame of pages about the installation, for those who run it. */
export function InstanceFrame({
  verdict,
  about,
  actions,
  children,
}: {
  /** Stands beside the title. */
  verdict?: ReactNode;
  /** What is known at a glance. */
  about?: ReactNode;
  /** What can be done here. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <AccountFrame>
      <PageHead
        title="Instance"
        verdict={verdict}
        about={about}
        actions={actions}
        tabs={instancePages.map(({ to, words }) => (
          <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
            {words}
          </Link>
        ))}
      />
      {children}
    </AccountFrame>
  );
}
