import { isUtf8 } from "node:buffer";

import { ExactJson } from "./exact-json.ts";
import { JsonBuilder, type Packed } from "./json-builder.ts";
import { JsonError, JsonScanner, maxDepth, type Places, type ScanOptions } from "./json-scanner.ts";
import { finish, paced, type Steps } from "./steps.ts";

export { JsonError, type Places } from "./json-scanner.ts";

/** Measures the deepest nesting of arrays and objects in JSON text, without parsing it. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) {
      // A string: skip to its end.
      for (index += 1; index < text.length && text.charCodeAt(index) !== 0x22; index += 1)
        if (text.charCodeAt(index) === 0x5c) index += 1;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return deepest;
}

/** Says whether the database can store a text: no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

function checkStorable(value: unknown): void {
  if (typeof value === "string") {
    if (!isStorable(value)) throw new JsonError("Text must not contain NUL or unpaired surrogates");
  } else if (Array.isArray(value)) for (const item of value) checkStorable(item);
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) {
      if (key === "__proto__") throw new JsonError("The key __proto__ is not allowed");
      checkStorable(key);
      checkStorable(item);
    }
}

/** Characters scanned without a pause: they take a few milliseconds. */
const slice = 64 * 1024;

/** Bytes up to which JSON is parsed without a pause. */
const smallBytes = 64 * 1024;

/** Says whether JSON is so long that it is parsed in slices. */
export function isLargeJson(bytes: Uint8Array | null): boolean {
  return bytes !== null && bytes.length > smallBytes;
}

/** Decodes UTF-8, without its byte order mark. @throws JsonError for other bytes. */
export function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new JsonError("Text is not valid UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/**
 * Parses untrusted JSON: UTF-8 without errors, at most 100 levels deep, no text the database cannot store, no key that
 * would touch a prototype.
 * @returns undefined for an empty text.
 * @throws JsonError with a reason for the caller.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = textOf(bytes);
  if (text.trim() === "") return undefined;
  if (depthOf(text) > maxDepth) throw new JsonError(`Nesting is deeper than ${maxDepth} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonError("Syntax error");
  }
  // Only escapes can hide what is to be refused; most bodies have none.
  if (/\\u|__proto__/.test(text)) checkStorable(value);
  return value;
}

/** Decodes UTF-8 as `textOf` does, a slice at a time. */
function* decoded(bytes: Uint8Array): Steps<string> {
  if (bytes.length <= slice) return textOf(bytes);
  // It takes little, and tells everything that can be wrong.
  if (!isUtf8(bytes)) throw new JsonError("Text is not valid UTF-8");
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += slice) {
    parts.push(decoder.decode(bytes.subarray(at, at + slice), { stream: true }));
    yield;
  }
  return parts.join("");
}

/** Checks a JSON text, a slice at a time. @throws JsonError for what is not accepted. */
function* scan(text: string, options?: ScanOptions): Steps<void> {
  const scanner = new JsonScanner(text, options);
  while (!scanner.advance(slice)) yield;
}

/** Replaces a string by the JSON it contains, if it does contain JSON. */
function* unpack({ holder, key, written }: Packed): Steps<void> {
  const place = holder as Record<string | number, unknown>;
  // Members of the same name that came before count for nothing.
  if (place[key] !== written) return;
  const text = (written.value as string).trim();
  try {
    yield* scan(text, { places: { exact: "always" } });
    place[key] = ExactJson.ofText(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
}

/**
 * Parses a text that is not blank, a slice at a time.
 * @param places values to keep as they were written, as `ExactJson`.
 * @throws JsonError
 */
export function* readText(text: string, places?: Places): Steps<unknown> {
  const builder = new JsonBuilder(text);
  yield* scan(text, { places, listener: builder });
  const root = builder.finish();
  for (const packed of builder.packed) yield* unpack(packed);
  return root[0];
}

/**
 * Parses untrusted JSON as `parseJson` does, a slice at a time. The number of values, and of members of an object, is
 * limited, except inside of what is kept as written.
 * @param places values to keep as they were written, as `ExactJson`.
 * @throws JsonError
 */
export function* readJson(bytes: Uint8Array, places?: Places): Steps<unknown> {
  const text = yield* decoded(bytes);
  return text.trim() === "" ? undefined : yield* readText(text, places);
}

/** Parses untrusted JSON as `readJson` does, large texts with other work in between. @throws JsonError */
export async function parseJsonInTurns(bytes: Uint8Array, places?: Places): Promise<unknown> {
  if (isLargeJson(bytes)) return paced(readJson(bytes, places));
  return places === undefined ? parseJson(bytes) : finish(readJson(bytes, places));
}
