import { z } from "zod";

import type { PageNumbers } from "../lib/paging.ts";
import { LinksBody } from "./common.ts";
import { integerParameter, pageParameter } from "./parameters.ts";

/** Fields of every page of a list, beside its items. */
export const pageOfList = {
  _links: LinksBody,
  page: z.int(),
  per_page: z.int(),
  total_pages: z.int(),
  total_count: z.int(),
};

/** The place of a page in its list. `page` is the one asked for, even past the end. */
export const PaginationInfo = z
  .object({
    total: z.int(),
    page: z.int(),
    per_page: z.int(),
    page_count: z.int(),
  })
  .meta({ id: "PaginationInfo" });
export type PaginationInfo = z.output<typeof PaginationInfo>;

/** `page` and `per_page` of lists that are plain arrays unless `per_page` is given. */
export const optionalPaging = {
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).optional(),
};

/** Makes the `pagination` of one page of a list of `total` items. */
export function paginationOf(page: PageNumbers, total: number): PaginationInfo {
  return {
    total,
    page: page.page,
    per_page: page.per_page,
    page_count: Math.ceil(total / page.per_page),
  };
}

/** Cuts one page out of a list that is short enough to be read whole. */
export function pageOf<T>(items: readonly T[], page: PageNumbers): { data: T[]; pagination: PaginationInfo } {
  const data = items.slice((page.page - 1) * page.per_page, page.page * page.per_page);
  return { data, pagination: paginationOf(page, items.length) };
}
