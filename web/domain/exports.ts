import { type CsvColumn, csvHead, csvRows } from "./csv.ts";

/** Some items of a list, and how many it has; undefined where it does not count them. */
export interface Some<T = unknown> {
  items: readonly T[];
  total: number | undefined;
}

/** The items of a list, some at a time. */
export type Batches<T = unknown> = AsyncIterable<Some<T>>;

export type ExportForm = "csv" | "json";

/** How many rows are put together here; a server that writes CSV has no limit. */
export const mostRows = 10_000;

/** A file made of a list. */
export interface ExportedFile {
  pieces: string[];
  rows: number;
  /** Rows were left out, because there were more than may be. */
  isCut: boolean;
}

/** Writes items in one form, piece by piece; what has been written stays as it is. */
function writer(form: ExportForm, columns: readonly CsvColumn[]) {
  if (form === "csv")
    return {
      start: csvHead(columns),
      write: (items: readonly unknown[]) => csvRows(columns, items),
      end: "",
    };
  let isFirst = true;
  const write = (items: readonly unknown[]): string =>
    items
      .map((item) => {
        const lead = isFirst ? "\n" : ",\n";
        isFirst = false;
        return `${lead}  ${JSON.stringify(item, null, 2).replaceAll("\n", "\n  ")}`;
      })
      .join("");
  return { start: "[", write, end: "\n]\n" };
}

/**
 * Puts a list into a file.
 * @param onRows told how many rows there are by now, and of how many.
 * @param most how many rows it may have.
 */
export async function exportList(
  batches: Batches,
  { form, columns, most = mostRows }: { form: ExportForm; columns: readonly CsvColumn[]; most?: number },
  onRows: (rows: number, total: number | undefined) => void,
): Promise<ExportedFile> {
  const { start, write, end } = writer(form, columns);
  const pieces = [start];
  let rows = 0;
  let isCut = false;
  for await (const { items, total } of batches) {
    const taken = items.slice(0, most - rows);
    pieces.push(write(taken));
    rows += taken.length;
    onRows(rows, total);
    isCut = taken.length < items.length || (rows === most && (total ?? rows) > rows);
    if (isCut) break;
  }
  pieces.push(end);
  return { pieces, rows, isCut };
}
