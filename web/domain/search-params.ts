/** What an address says after its question mark: texts, and lists of them. */
export type SearchTexts = Record<string, string | string[]>;

/** Reads the part of an address after `?`. A name given several times becomes a list. */
export function parseSearch(search: string): SearchTexts {
  const found = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const before = found.get(name);
    found.set(name, before === undefined ? value : [...[before].flat(), value]);
  }
  return Object.fromEntries(found);
}

/** Writes the part of an address after `?`, question mark included; empty when there is nothing to say. */
export function stringifySearch(search: Record<string, unknown>): string {
  const texts = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of [value].flat() as (string | number | boolean | null | undefined)[])
      if (one !== undefined && one !== null && one !== "" && one !== false) texts.append(name, String(one));
  const text = texts.toString();
  return text === "" ? "" : `?${text}`;
}

type Reader<T> = (given: unknown) => T | undefined;
type Readers = Readonly<Record<string, Reader<unknown>>>;

/** What is read by these readers; what an address does not say, or says badly, is left out. */
export type SearchOf<R extends Readers> = { [Name in keyof R]?: ReturnType<R[Name]> };

const last = (given: unknown): unknown => (Array.isArray(given) ? given.at(-1) : given);

/** Reads a text. */
export const text: Reader<string> = (given) => {
  const one = last(given);
  if (typeof one === "number") return String(one);
  return typeof one === "string" && one !== "" ? one : undefined;
};

/** Reads a list of texts. */
export const texts: Reader<string[]> = (given) => {
  const all = [given].flat().filter((one): one is string => typeof one === "string" && one !== "");
  return all.length === 0 ? undefined : all;
};

/** Reads a whole number from 1. */
export const positive: Reader<number> = (given) => {
  const value = Number(last(given));
  return Number.isInteger(value) && value > 0 ? value : undefined;
};

/** Reads a switch that is on. */
export const flag: Reader<true> = (given) =>
  ["true", "1", true].includes(last(given) as string) ? true : undefined;

/** Reads one of these words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Reader<Word> {
  return (given) => words.find((word) => word === last(given));
}

/**
 * Makes what reads the search of a page. What an address says badly is there, and undefined: the router lays what is read over what the
 * address says, which would count otherwise.
 */
export function reads<const R extends Readers>(readers: R): (search: Record<string, unknown>) => SearchOf<R> {
  return (search) =>
    Object.fromEntries(
      Object.entries(readers)
        .filter(([name]) => search[name] !== undefined)
        .map(([name, reader]) => [name, reader(search[name])] as const),
    ) as SearchOf<R>;
}
