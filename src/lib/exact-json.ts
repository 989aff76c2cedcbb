import { jsonText } from "./json-text.ts";

/**
 * A JSON value as somebody wrote it. A program's own numbers and objects would not keep it: integers beyond 2^53 are
 * rounded, `1.0` becomes `1`, `1e400` infinity, and keys that look like integers move to the front.
 */
export class ExactJson<T = unknown> {
  #text: string | undefined;
  #value: T | undefined;

  private constructor(text: string | undefined, value: T | undefined) {
    this.#text = text;
    this.#value = value;
  }

  /** Wraps a text that is known to be valid JSON. @param value what the text says, if it has been parsed already. */
  static ofText<T = unknown>(text: string, value?: T): ExactJson<T> {
    return new ExactJson<T>(text, value);
  }

  /** Wraps a value of the program's own, which has no text yet. */
  static ofValue<T>(value: T): ExactJson<T> {
    return new ExactJson<T>(undefined, value);
  }

  /** The text as it was written, blanks and escapes included. */
  get text(): string {
    this.#text ??= writeJson(this.#value);
    return this.#text;
  }

  /** The parsed value, with numbers rounded to a program's: for decisions, never to be shown or stored. */
  get value(): T {
    this.#value ??= JSON.parse(this.text) as T;
    return this.#value;
  }

  /** Sets the parsed value, so that `value` need not parse the text. */
  remember(value: T): void {
    this.#value = value;
  }

  /** The kind of the value, as JSON names it, without parsing the text. */
  get kind(): "object" | "array" | "string" | "number" | "boolean" | "null" {
    return kindOf(this.text);
  }

  /** Gives a placeholder, which `writeJson` replaces by the text. @throws Error when anything else writes it. */
  toJSON(): string {
    if (texts === undefined) throw new Error("Exact JSON is written by writeJson");
    texts.push(this.text);
    return `\0${texts.length - 1}`;
  }
}

const kinds: Record<string, ExactJson["kind"]> = {
  "{": "object",
  "[": "array",
  '"': "string",
  t: "boolean",
  f: "boolean",
  n: "null",
};

function kindOf(text: string): ExactJson["kind"] {
  return kinds[text.charAt(0)] ?? "number";
}

/** Exact texts met in the value that is being written; undefined outside of `writeJson`. */
let texts: string[] | undefined;

/** The placeholder of an exact text. No other text begins like this: a NUL is refused wherever it comes from. */
const standIn = /"\\u0000(\d+)"/g;

/** Writes a value as `JSON.stringify` does, but `ExactJson` inside of it to the letter. */
export function writeJson(value: unknown): string {
  const outer = texts;
  const inner: string[] = [];
  texts = inner;
  try {
    const text = jsonText(value) ?? "null";
    if (inner.length === 0) return text;
    return text.replace(standIn, (written, index: string) => inner[Number(index)] ?? written);
  } finally {
    texts = outer;
  }
}
