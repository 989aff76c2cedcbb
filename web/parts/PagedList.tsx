import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { ListPage } from "../api/page.ts";
import { Pager } from "../ui/Pager.tsx";
import { FailedToRead } from "./Loaded.tsx";

interface PagedListProps<T> {
  query: Pick<UseQueryResult, "error" | "refetch" | "isPlaceholderData">;
  /** What the query answered; undefined until it does. */
  page: ListPage<T> | undefined;
  /** Stands in the place of a list of nothing. */
  empty: ReactNode;
  onPage: (page: number) => void;
  /** Draws the rows; undefined while they come, old while others do. */
  children: (rows: readonly T[] | undefined, isOld: boolean) => ReactNode;
}

/** Shows a page of a list with what leads to the pages beside it, or why there is nothing to show. */
export function PagedList<T>({ query, page, empty, onPage, children }: PagedListProps<T>) {
  if (query.error !== null && page === undefined)
    return <FailedToRead error={query.error} retry={() => void query.refetch()} />;
  if (page?.total === 0) return empty;
  return (
    <>
      {children(page?.items, query.isPlaceholderData)}
      {page === undefined ? null : <Pager {...page} count={page.items.length} onPage={onPage} />}
    </>
  );
}
