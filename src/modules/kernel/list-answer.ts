import { JsonPieces, JsonText } from "../../contract/endpoint.ts";
import type { BegunPage } from "../../db/heavy-page.ts";
import { arrayPieces } from "../../lib/json-array.ts";
import { textPieces } from "../../lib/text.ts";

/** Takes the brackets off the texts of JSON arrays. */
async function* itemsOf(lists: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const list of lists) yield list.slice(1, -1);
}

type Part = string | AsyncIterable<string>;

/** Puts into pieces of lists what was left out of them. */
export type PutInto = (pieces: AsyncIterable<string>) => AsyncIterable<string>;

async function* pieces(parts: readonly Part[], putInto: PutInto): AsyncGenerator<string> {
  for (const part of parts)
    if (typeof part === "string") yield* textPieces(part);
    else for await (const text of putInto(arrayPieces(itemsOf(part)))) yield* textPieces(text);
}

/**
 * Makes a body with lists in it: ready, or sent while they are read. Both are the same to who gets them.
 * @param parts texts that follow each other. What is not ready are the texts of JSON arrays, which become one.
 */
export function listsAnswer(
  parts: readonly Part[],
  putInto: PutInto = (lists) => lists,
): JsonText | JsonPieces {
  const ready = parts.filter((part) => typeof part === "string");
  return ready.length === parts.length ? new JsonText(...ready) : new JsonPieces(pieces(parts, putInto));
}

/** Makes a body with one list in it. */
export function listAnswer(head: string, list: Part, end: string, putInto?: PutInto): JsonText | JsonPieces {
  return listsAnswer([head, list, end], putInto);
}

async function* printed<Row>(
  batches: AsyncIterable<Row[]>,
  print: (rows: readonly Row[]) => Promise<string>,
): AsyncGenerator<string> {
  for await (const rows of batches) yield print(rows);
}

/**
 * Prints a page for `listAnswer`: at once or, where it is heavy, while it is read.
 * @param read reads all of it.
 * @param print makes the text of a JSON array of some of its rows.
 */
export async function printPage<Row>(
  page: BegunPage<Row>,
  read: () => AsyncIterable<Row[]>,
  print: (rows: readonly Row[]) => Promise<string>,
): Promise<string | AsyncIterable<string>> {
  return page.rest.length === 0 ? print(page.rows) : printed(read(), print);
}
