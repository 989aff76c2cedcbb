/** What spreadsheets take for the beginning of a formula, also in the wide forms of East Asian type. */
const formula = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

const special = /[",\r\n]|^\s|\s$/u;

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return text !== value || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * One line of comma-separated values (RFC 4180), with its end. A text that a spreadsheet would run as a formula gets an
 * apostrophe in front, so that it is shown instead.
 */
export function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(cell).join(",")}\r\n`;
}
