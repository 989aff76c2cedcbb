import type { CsvColumn } from "../domain/csv.ts";
import type { Batches, Some } from "../domain/exports.ts";
import type { Download } from "../ui/save.ts";
import { addressOf, type Answered, callWithHeaders } from "./client.ts";
import type { AnswerOf, InputOf, ReadAddress } from "./contract.ts";
import { ApiError, errorOf } from "./errors.ts";
import type { ListPage } from "./page.ts";

/** Who writes a list as CSV. */
type WrittenAsCsv =
  /** Address at which the server writes it, of any length. */
  | { csv: string; columns?: undefined }
  /** Columns of what is written here, where the server writes none. */
  | { csv?: undefined; columns: readonly CsvColumn[] };

/** A list as its filters say, whatever page of it is shown. */
export type ExportedList = WrittenAsCsv & {
  /** What the file is called, without its ending. */
  file: string;
  batches: (signal: AbortSignal) => Batches;
  /** Files that the server makes of the whole list, whatever the filters. */
  whole?: readonly { words: string; href: string }[];
};

/** What a page asks, by the key under which the answer is kept. */
interface Question<A extends ReadAddress> {
  queryKey: readonly [A, InputOf<A>, ...unknown[]];
}

/** Asks what a page asks, without keeping the answer. */
export function read<A extends ReadAddress>(
  { queryKey: [operation, input] }: Question<A>,
  signal: AbortSignal,
): Promise<Answered<AnswerOf<A>>> {
  return callWithHeaders(operation, input, signal);
}

/** Writes the address of what a page asks. */
export function addressOfQuestion<A extends ReadAddress>({
  queryKey: [operation, input],
}: Question<A>): string {
  return addressOf(operation, input);
}

/** How often a request is sent again that the server had no room for. */
const attempts = 5;

const pause = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("Stopped", "AbortError"));
    });
  });

/** Sends a request, again when the server asks to wait. */
async function patiently<T>(signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      // What is asked for next depends on it.
      // oxlint-disable-next-line no-await-in-loop
      return await request();
    } catch (error) {
      const mayWait = error instanceof ApiError && (error.status === 429 || error.status === 503);
      if (!mayWait || attempt === attempts) throw error;
      // oxlint-disable-next-line no-await-in-loop
      await pause(error.retryAfter ?? attempt, signal);
    }
}

/**
 * Reads a list by its pages, one after the other.
 * @param read reads one page, from 1.
 */
export function byPages<T>(
  read: (page: number, signal: AbortSignal) => Promise<ListPage<T>>,
): (signal: AbortSignal) => Batches<T> {
  return async function* batches(signal): AsyncGenerator<Some<T>> {
    for (let page = 1; ; page += 1) {
      // oxlint-disable-next-line no-await-in-loop
      const { items, per_page, total } = await patiently(signal, () => read(page, signal));
      yield { items, total };
      if (items.length < per_page || page * per_page >= (total ?? Infinity)) return;
    }
  };
}

/**
 * Reads a list of which each page says where the next begins.
 * @param read reads the page that begins there; undefined is the first.
 */
export function byCursor(
  read: (
    after: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ items: readonly unknown[]; next: string | undefined }>,
): (signal: AbortSignal) => Batches {
  return async function* batches(signal): AsyncGenerator<Some> {
    let after: string | undefined;
    do {
      const start = after;
      // oxlint-disable-next-line no-await-in-loop
      const { items, next } = await patiently(signal, () => read(start, signal));
      yield { items, total: undefined };
      after = next;
    } while (after !== undefined);
  };
}

/** Gives a list that is there already. */
export function given(items: readonly unknown[]): (signal: AbortSignal) => Batches {
  return async function* batches(): AsyncGenerator<Some> {
    yield { items, total: items.length };
  };
}

/** Bytes that are held by themselves before the browser may put them elsewhere. */
const held = 4 * 1024 * 1024;

/**
 * Reads a list of any length as CSV: lists answer it to whoever asks for that type, at the address that answers JSON to others.
 * @param onBytes told how many bytes have come by now.
 * @throws ApiError when it is refused.
 */
export async function downloadCsv(
  address: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Download> {
  const response = await fetch(address, { headers: { accept: "text/csv" }, signal });
  if (!response.ok || response.body === null) throw await errorOf(response);
  const named = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "");
  const reader = response.body.getReader();
  let content = new Blob([], { type: "text/csv" });
  let pieces: BlobPart[] = [];
  let [bytes, loose] = [0, 0];
  const keep = (): void => {
    content = new Blob([content, ...pieces], { type: "text/csv" });
    [pieces, loose] = [[], 0];
  };
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    bytes += value.length;
    loose += value.length;
    if (loose > held) keep();
    onBytes(bytes);
  }
  keep();
  return { name: named?.[1] ?? "list.csv", content };
}
