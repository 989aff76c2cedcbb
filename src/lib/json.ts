import { isUtf8 } from "node:buffer";
import { setImmediate } from "node:timers/promises";

import { ExactJson } from "./exact-json.ts";
import { JsonError, JsonScanner, maxDepth, type Places, type Range } from "./json-scanner.ts";

export { JsonError, type Places } from "./json-scanner.ts";

/** The deepest nesting of arrays and objects in JSON text, without parsing it. */
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

/** Whether the database can store a text: no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

function checkStorable(value: unknown): void {
  if (typeof value === "string") {
    if (!isStorable(value)) throw new JsonError("Text must not contain NUL or unpaired surrogates");
  } else if (Array.isArray(value)) {
    for (const item of value) checkStorable(item);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (key === "__proto__") throw new JsonError("The key __proto__ is not allowed");
      checkStorable(key);
      checkStorable(item);
    }
  }
}

/** Characters read at once: a few milliseconds' worth. */
const slice = 512 * 1024;

/** The text of bytes that are UTF-8, without the mark of their order. @throws JsonError */
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

/** Looks through a text, a piece at a time if it is large. @throws JsonError for what is not accepted. */
async function scan(text: string, places?: Places): Promise<Range[]> {
  const scanner = new JsonScanner(text, places);
  while (!scanner.advance(slice)) await setImmediate();
  return scanner.ranges;
}

/** What a text says if that is JSON, else the text itself, which is given as it was written. */
async function unpacked(written: ExactJson): Promise<ExactJson> {
  const text = (written.value as string).trim();
  try {
    await scan(text);
    return ExactJson.ofText(text);
  } catch (error) {
    if (error instanceof JsonError) return written;
    throw error;
  }
}

/** The text with a number in place of each wanted value. */
function withoutWanted(text: string, ranges: readonly Range[]): string {
  let rest = "";
  let from = 0;
  for (const [index, { start, end }] of ranges.entries()) {
    rest += text.slice(from, start) + String(index);
    from = end;
  }
  return rest + text.slice(from);
}

/** Puts the wanted values back: what stands at their places is their number, or null. */
function putBack(value: unknown, places: Places, wanted: readonly ExactJson[]): unknown {
  if (places.exact !== undefined) return typeof value === "number" ? wanted[value] : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const { items } = places;
    if (items !== undefined)
      for (const [index, item] of value.entries()) value[index] = putBack(item, items, wanted);
    return value;
  }
  const object = value as Record<string, unknown>;
  for (const [name, inner] of places.members ?? [])
    if (Object.hasOwn(object, name)) object[name] = putBack(object[name], inner, wanted);
  return object;
}

/**
 * Parses untrusted JSON as `parseJson` does, but for what stands at some places: that is left as it was written. A large
 * text is looked through a piece at a time.
 */
export async function parseJsonExactly(bytes: Uint8Array, places: Places): Promise<unknown> {
  const text = textOf(bytes);
  if (text.trim() === "") return undefined;
  const ranges = await scan(text, places);
  const rest: unknown = JSON.parse(withoutWanted(text, ranges));
  const wanted: ExactJson[] = [];
  for (const { start, end, unpack } of ranges) {
    const written = ExactJson.ofText(text.slice(start, end));
    wanted.push(unpack && written.kind === "string" ? await unpacked(written) : written);
  }
  return putBack(rest, places, wanted);
}
