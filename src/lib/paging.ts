/** Which page of a list. */
export interface PageNumbers {
  /** From 1. */
  page: number;
  per_page: number;
}

/** Which rows of a list: so many, after those that are left out. */
export interface PageSlice {
  limit: number;
  offset: number;
}

/** Finds the rows that are on a page. */
export function pageSlice({ page, per_page }: PageNumbers): PageSlice {
  return { limit: per_page, offset: (page - 1) * per_page };
}
