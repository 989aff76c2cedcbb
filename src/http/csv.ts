import { type CsvColumn, type CsvForm, type CsvRows, csvType } from "../contract/csv.ts";
import { attachmentDisposition } from "../domain/evidence-file.ts";
import { cellAt, csvLine } from "../lib/csv.ts";

/** A media type that is asked for, and how much it is wanted: from 0, not at all, to 1. */
interface Wanted {
  type: string;
  weight: number;
}

function parseAccept(accept: string): Wanted[] {
  return accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality);
    return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 };
  });
}

/**
 * Says whether a request asks for CSV: by name, more than for JSON if that is named, and no less than for anything else. Who
 * takes anything, or any text, gets JSON.
 * @param accept the header `Accept` (RFC 9110).
 */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined || !/text\/csv/i.test(accept)) return false;
  const wanted = parseAccept(accept);
  const weightOf = (type: string): number | undefined => wanted.find((range) => range.type === type)?.weight;
  const [csv = 0, json] = [weightOf("text/csv"), weightOf("application/json")];
  const anything = Math.max(weightOf("application/*") ?? 0, weightOf("*/*") ?? 0);
  return csv > 0 && (json === undefined ? csv >= anything : csv > json);
}

/** Writes Unix seconds as a spreadsheet reads them; what is none stays. */
function isoTime(value: unknown): unknown {
  return typeof value === "number" ? new Date(value * 1000).toISOString() : value;
}

/** Lines that are written in one go. */
const linesTogether = 100;

type Cell = (item: object) => string | number;

function cellOf({ path, isTime }: CsvColumn): Cell {
  const names = path.split(".");
  return isTime ? (item) => cellAt(item, names, isoTime) : (item) => cellAt(item, names);
}

/** Writes a list as CSV, some lines at a time: a line of headings, then one for each row. */
export async function* csvPieces({ columns }: CsvForm, batches: CsvRows): AsyncGenerator<string> {
  const cells = columns.map(cellOf);
  const line = (item: object): string => csvLine(cells.map((cell) => cell(item)));
  yield csvLine(columns.map(({ path }) => path));
  for await (const rows of batches)
    for (let from = 0; from < rows.length; from += linesTogether)
      yield rows
        .slice(from, from + linesTogether)
        .map(line)
        .join("");
}

/** Tells browsers to keep the list as a file, named after the organization, if there is one, and what the list is of. */
export function csvHeaders({ file }: CsvForm, org: { name: string } | undefined): Record<string, string> {
  const name = org === undefined ? file : `${org.name}-${file}`;
  return { "content-type": csvType, "content-disposition": attachmentDisposition(`${name}.csv`) };
}
