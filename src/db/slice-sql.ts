import type { PageSlice } from "../lib/paging.ts";
import { param, type Sql, sql } from "./sql.ts";

/** SQL for the rows of a page. */
export interface SliceSql {
  limit: Sql;
  /** Undefined for the first page. */
  offset: Sql | undefined;
}

/** Makes the numbers of a slice parameters, each of which may stand in several places. */
export function sliceSql({ limit, offset }: PageSlice): SliceSql {
  return {
    limit: sql`${param(limit)}::bigint`,
    offset: offset === 0 ? undefined : sql`${param(offset)}::bigint`,
  };
}
