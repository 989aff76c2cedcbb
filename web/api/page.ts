/** One page of a list, whichever of the API's ways it came. */
export interface ListPage<T> {
  items: readonly T[];
  page: number;
  per_page: number;
  /** Of all pages; undefined where the list does not count. */
  total: number | undefined;
}

interface Pagination {
  total: number;
  page: number;
  per_page: number;
}

/** Reads a list of the form `{data, pagination}`. */
export function pageOfData<T>(answer: { data: readonly T[]; pagination: Pagination }): ListPage<T> {
  const { page, per_page, total } = answer.pagination;
  return { items: answer.data, page, per_page, total };
}

interface HeadOfList {
  page: number;
  per_page: number;
  total_count: number;
}

/** Reads a list whose answer has the page's fields beside the items. */
export function pageOfHead<T>(answer: HeadOfList, items: readonly T[]): ListPage<T> {
  return { items, page: answer.page, per_page: answer.per_page, total: answer.total_count };
}

/** Reads a bare array, whose total is in a header if anywhere. */
export function pageOfArray<T>(
  items: readonly T[],
  asked: { page: number; per_page: number },
  headers?: Headers,
): ListPage<T> {
  const total = headers?.get("x-total-count");
  return { items, ...asked, total: total === null || total === undefined ? undefined : Number(total) };
}

/** Takes a list that came whole for its only page. */
export function pageOfWhole<T>(items: readonly T[]): ListPage<T> {
  return { items, page: 1, per_page: items.length + 1, total: items.length };
}
