import { writeJson } from "./exact-json.ts";
import { jsonText } from "./json-text.ts";
import type { Steps } from "./steps.ts";

/** Items of longer lists, and members of larger objects, are written one by one. */
const many = 200;

/** Levels of objects that are searched for long lists and large objects. */
const levels = 3;

/** Writes a value that is not wide; undefined for what JSON has no text for. */
type Write = (value: unknown) => string | undefined;

/** Says whether a value is a list or an object whose members are written: one with `toJSON` says itself what is. */
function hasMembersToWrite(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !("toJSON" in value);
}

/** Says whether an object has many members, without a list of them: one of a very large object takes long to make. */
function hasMany(value: Record<string, unknown>): boolean {
  let members = 0;
  for (const _key in value) {
    members += 1;
    if (members > many) return true;
  }
  return false;
}

function looksWide(value: unknown, left: number): boolean {
  if (!hasMembersToWrite(value)) return false;
  if (Array.isArray(value)) return value.length > many;
  return hasMany(value) || (left > 1 && Object.values(value).some((inner) => looksWide(inner, left - 1)));
}

/** Characters of text that make a value long, however few items it has: they are written in pieces, too. */
const longText = 256 * 1024;

/** Levels that are searched for text. */
const textLevels = 8;

/** Takes the characters of a value from those that are left, and says how many are left then. Stops when there are none. */
function leftAfter(value: unknown, left: number, level: number): number {
  if (typeof value === "string") return left - value.length;
  if (level === 0 || !hasMembersToWrite(value)) return left - 1;
  let rest = left - 1;
  for (const key in value) {
    if (rest < 0) break;
    rest = leftAfter(value[key], rest, level - 1);
  }
  return rest;
}

/** Says whether a value has a long list, a large object or much text in its upper levels, so that it is better written in pieces. */
export function isWide(value: unknown): boolean {
  return looksWide(value, levels) || (hasMembersToWrite(value) && leftAfter(value, longText, textLevels) < 0);
}

/**
 * Writes a list as `JSON.stringify` does, in pieces: item by item, and wide ones as `widePieces` does.
 * @param write see `widePieces`.
 */
export function* itemPieces(items: readonly unknown[], write: Write = jsonText): Generator<string> {
  yield "[";
  let separator = "";
  for (const item of items) {
    yield separator;
    yield* widePieces(item, write);
    separator = ",";
  }
  yield "]";
}

function* memberPieces(value: Record<string, unknown>, write: Write): Generator<string> {
  yield "{";
  let separator = "";
  for (const key in value) {
    const inner = value[key];
    if (jsonText(inner === null || typeof inner === "object" ? null : inner) === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* widePieces(inner, write);
    separator = ",";
  }
  yield "}";
}

/**
 * Writes a value as `JSON.stringify` does, in pieces: long lists item by item, large objects member by member, and both so where there
 * is much text in them.
 * @param write writes what is not wide: `writeJson` where there is `ExactJson` in it.
 */
export function* widePieces(value: unknown, write: Write = jsonText): Generator<string> {
  if (!isWide(value)) yield write(value) ?? "null";
  else if (Array.isArray(value)) yield* itemPieces(value, write);
  else yield* memberPieces(value as Record<string, unknown>, write);
}

/** Characters that are written in one go. */
const inOneGo = 64 * 1024;

/** Puts pieces of text together to some of many characters, the last one of fewer. */
export function* largerPieces(pieces: Iterable<string>): Generator<string> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < inOneGo) continue;
    yield text;
    text = "";
  }
  yield text;
}

function* joined(pieces: Iterable<string>): Steps<string> {
  let text = "";
  for (const piece of largerPieces(pieces)) {
    text += piece;
    if (piece.length >= inOneGo) yield;
  }
  return text;
}

/** Writes a list as `writeJson` does, with `ExactJson` in it and however wide its items are. */
export function exactList(items: readonly unknown[]): Steps<string> {
  return joined(itemPieces(items, writeJson));
}

/** Writes a value as `JSON.stringify` does, however wide it is. */
export function wideText(value: unknown): Steps<string> {
  return joined(widePieces(value));
}
