import { jsonText } from "./json-text.ts";

/** Lists with more items are written one by one. */
const manyItems = 200;

/** Levels of objects and lists that are searched for long lists. */
const levels = 3;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !("toJSON" in value);
}

function looksWide(value: unknown, left: number): boolean {
  if (!isObject(value)) return false;
  if (Array.isArray(value)) return value.length > manyItems;
  return left > 1 && Object.values(value).some((inner) => looksWide(inner, left - 1));
}

/** Says whether a value has a long list in its upper levels, so that it is better written in pieces. */
export function isWide(value: unknown): boolean {
  return looksWide(value, levels);
}

function* itemPieces(items: readonly unknown[]): Generator<string> {
  let separator = "";
  for (const item of items) {
    yield separator;
    yield* widePieces(item);
    separator = ",";
  }
}

function* memberPieces(value: Record<string, unknown>): Generator<string> {
  let separator = "";
  for (const [key, inner] of Object.entries(value)) {
    if (jsonText(inner === null || typeof inner === "object" ? null : inner) === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* widePieces(inner);
    separator = ",";
  }
}

/** Writes a value as `JSON.stringify` does, in pieces: long lists item by item. */
export function* widePieces(value: unknown): Generator<string> {
  if (!isWide(value)) yield jsonText(value) ?? "null";
  else if (Array.isArray(value)) {
    yield "[";
    yield* itemPieces(value);
    yield "]";
  } else {
    yield "{";
    yield* memberPieces(value as Record<string, unknown>);
    yield "}";
  }
}
