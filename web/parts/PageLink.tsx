import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";

import { basePath } from "../api/client.ts";
import { pathOfPage } from "../domain/links.ts";

interface PageLinkProps {
  /** As the API gave it. */
  address: string | null | undefined;
  className?: string | undefined;
  children: ReactNode;
}

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

interface PathLinkProps {
  /** Below the program's own path, each segment already encoded. */
  path: string;
  className?: string | undefined;
  children: ReactNode;
}

/** Links to a page by its path, without loading the app anew. */
function PathLink({ path, className, children }: PathLinkProps) {
  const router = useRouter();
  return (
    <a
      href={`${basePath}${path.slice(1)}`}
      className={className}
      onClick={(event) => {
        if (!isPlainClick(event)) return;
        event.preventDefault();
        void router.navigate({ href: path });
      }}
    >
      {children}
    </a>
  );
}

/** Links to the page that an answer of the API names, without loading the app anew. Without an address it is text. */
export function PageLink({ address, className, children }: PageLinkProps) {
  const path = pathOfPage(address, basePath);
  if (path === undefined) return <span className={className}>{children}</span>;
  return (
    <PathLink path={path} className={className}>
      {children}
    </PathLink>
  );
}
