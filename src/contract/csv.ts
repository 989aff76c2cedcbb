/** A column of CSV. */
export interface CsvColumn {
  /**
   * Where the value stands in an item of the list, such as `flow.name`; also the column's heading. A list on the way is
   * gone through: its values share the cell.
   */
  path: string;
  /** The value is Unix seconds, and shown as a date and time in ISO 8601, UTC. */
  isTime: boolean;
}

/** How a list is written as CSV: for `Accept: text/csv`, all that matches, whatever the page. */
export interface CsvForm {
  /** What the file is called, without its ending and without the name of the organization. */
  file: string;
  columns: readonly CsvColumn[];
}

/** The media type of CSV as it is answered. */
export const csvType = "text/csv; charset=utf-8";

/** Marks a column that holds Unix seconds. */
export function time(path: string): CsvColumn {
  return { path, isTime: true };
}

/**
 * Declares that a list can be had as CSV. The handler for that goes into the `csv` handlers of its module: it does not
 * compile without.
 * @param response the list as JSON.
 * @param file what the file is called, without its ending.
 * @param columns paths in an item of the list, in their order.
 */
export function withCsv<R extends object>(
  response: R,
  file: string,
  columns: readonly (string | CsvColumn)[],
): R & { csv: CsvForm } {
  const form = {
    file,
    columns: columns.map((column) => (typeof column === "string" ? { path: column, isTime: false } : column)),
  };
  return { ...response, csv: form };
}

/** Rows of a list as they are read: some at a time, each as an item of the list in JSON. */
export type CsvRows = AsyncIterable<readonly object[]>;
