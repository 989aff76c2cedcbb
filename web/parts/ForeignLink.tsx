import type { ReactNode } from "react";

import { safeLink } from "../domain/links.ts";
import { Icon } from "../ui/Icon.tsx";

interface ForeignLinkProps {
  address: string | null | undefined;
  /** Shown in place of the host. */
  children?: ReactNode;
}

/** Links to where a pipeline said; what is no link to the web is shown as text. */
export function ForeignLink({ address, children }: ForeignLinkProps) {
  const link = safeLink(address);
  if (link === undefined) return <span>{children ?? address}</span>;
  return (
    <a href={link.href} rel="noopener noreferrer" target="_blank" title={link.href}>
      {children ?? link.host}
      <span style={{ display: "inline-block", marginInlineStart: 3, verticalAlign: "-1px" }}>
        <Icon name="outside" size={11} />
      </span>
      <span className="visually-hidden"> (on {link.host})</span>
    </a>
  );
}
