/** A column: where its value stands in an item, such as `flow.name`, which is its heading, too. */
export type CsvColumn = string | { path: string; isTime: true };

/** Marks columns that hold Unix seconds, which are written as a date and time in UTC. */
export function time(path: string): CsvColumn {
  return { path, isTime: true };
}

/** The characters that spreadsheets take for the beginning of a formula, also in the wide forms of East Asian type. */
const formula = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

const special = /[",\r\n]|^\s|\s$/u;

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return text !== value || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Writes one line of comma-separated values (RFC 4180), with its end, as the server does: a text that a spreadsheet would run as a
 * formula gets an apostrophe in front.
 */
export function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(cell).join(",")}\r\n`;
}

/** Finds the values at a path, those of lists on the way one after the other. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (typeof value !== "object") return [];
  const member = Object.entries(value).find(([key]) => key === name);
  return member === undefined ? [] : valuesAt(member[1], rest);
}

function shown(value: unknown, isTime: boolean): string {
  if (isTime && typeof value === "number") return new Date(value * 1000).toISOString();
  return typeof value === "string" ? value : JSON.stringify(value);
}

function cellAt(item: unknown, column: CsvColumn): string | number {
  const [path, isTime] = typeof column === "string" ? [column, false] : [column.path, true];
  const values = valuesAt(item, path.split("."));
  const [only] = values;
  if (values.length === 1 && typeof only === "number" && !isTime) return only;
  return [...new Set(values.map((value) => shown(value, isTime)))].join("; ");
}

/** Writes the line of headings. */
export function csvHead(columns: readonly CsvColumn[]): string {
  return csvLine(columns.map((column) => (typeof column === "string" ? column : column.path)));
}

/** Writes a line for each item: numbers as they are, several values in a cell apart by semicolons. */
export function csvRows(columns: readonly CsvColumn[], items: readonly unknown[]): string {
  return items.map((item) => csvLine(columns.map((column) => cellAt(item, column)))).join("");
}
