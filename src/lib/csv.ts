/** The characters that spreadsheets take for the beginning of a formula, also in the wide forms of East Asian type. */
const formula = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

const special = /[",\r\n]|^\s|\s$/u;

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return text !== value || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Writes one line of comma-separated values (RFC 4180), with its end. A text that a spreadsheet would run as a formula gets
 * an apostrophe in front, so that it is shown instead.
 */
export function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(cell).join(",")}\r\n`;
}

/** Between several values in one cell. */
const separator = "; ";

/**
 * Finds the values at a path in an object, those of lists on the way one after the other; none where the path ends before.
 * @param path names of members, from outside in.
 */
function* valuesAt(value: unknown, [name, ...rest]: readonly string[]): Generator {
  if (value === null || value === undefined) return;
  if (Array.isArray(value))
    for (const item of value) yield* valuesAt(item, name === undefined ? [] : [name, ...rest]);
  else if (name === undefined) yield value;
  else if (typeof value === "object" && Object.hasOwn(value, name))
    yield* valuesAt((value as Record<string, unknown>)[name], rest);
}

/**
 * Reads what belongs into one cell: numbers as they are, objects as JSON, different values with semicolons between them.
 * @param show makes a text of one value, where it is not shown as it is.
 */
export function cellAt(
  item: object,
  path: readonly string[],
  show: (value: unknown) => unknown = (value) => value,
): string | number {
  const shown = [...valuesAt(item, path)].map(show);
  const [only] = shown;
  if (shown.length === 1 && typeof only === "number") return only;
  const texts = shown.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return [...new Set(texts)].join(separator);
}
