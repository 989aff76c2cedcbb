/** Why a text was not accepted as JSON. */
export class JsonError extends Error {}

const maxDepth = 100;
const utf8 = new TextDecoder("utf-8", { fatal: true });

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

/**
 * Parses untrusted JSON: UTF-8 without errors, at most 100 levels deep, no text the database cannot store, no key that
 * would touch a prototype.
 * @returns undefined for an empty text.
 * @throws JsonError with a reason for the caller.
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new JsonError("Text is not valid UTF-8");
  }
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
