/**
 * Reads a list to its end, some rows at a time. The first ones are read before it answers.
 * @param size how many rows `read` finds unless there are fewer left.
 * @param read finds the rows that come after one, or the first ones.
 */
export async function inBatches<Row>(
  size: number,
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): Promise<AsyncIterable<readonly Row[]>> {
  const first = await read(undefined);
  async function* batches(): AsyncGenerator<readonly Row[]> {
    for (let rows = first; rows.length > 0; rows = rows.length < size ? [] : await read(rows.at(-1)))
      yield rows;
  }
  return batches();
}

/**
 * Reads a list to its end by its pages, for those of which nothing moves meanwhile. The first one is read before it answers.
 * @param per_page how many rows a page has.
 */
export function pagesInBatches<Row>(
  per_page: number,
  read: (page: { page: number; per_page: number }) => Promise<readonly Row[]>,
): Promise<AsyncIterable<readonly Row[]>> {
  let page = 0;
  return inBatches(per_page, () => read({ page: (page += 1), per_page }));
}
