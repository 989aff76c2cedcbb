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

  /** @param text of one JSON value, known to be valid. @param value what it says, if somebody has read it already. */
  static ofText<T = unknown>(text: string, value?: T): ExactJson<T> {
    return new ExactJson<T>(text, value);
  }

  /** For values that programs made, which have no text yet. */
  static ofValue<T>(value: T): ExactJson<T> {
    return new ExactJson<T>(undefined, value);
  }

  /** As it was written, blanks and escapes included. */
  get text(): string {
    this.#text ??= writeJson(this.#value);
    return this.#text;
  }

  /** What it says, as near as a program's numbers come to it: for decisions, never to be shown or stored. */
  get value(): T {
    this.#value ??= JSON.parse(this.text) as T;
    return this.#value;
  }

  /** Takes what somebody else read in it, so that `value` need not. */
  remember(value: T): void {
    this.#value = value;
  }

  /** The kind of the value, as JSON names it, without reading it. */
  get kind(): "object" | "array" | "string" | "number" | "boolean" | "null" {
    return kindOf(this.text);
  }

  /** Stands for the text until `writeJson` puts it in. @throws Error when anything else writes it. */
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

/** Texts that the value being written holds. */
let texts: string[] | undefined;

/** What stands for a text. No other text begins like this: a NUL is refused wherever it comes from. */
const standIn = /"\\u0000(\d+)"/g;

/** Writes a value as `JSON.stringify` does, with what it holds of exact JSON as that was written. */
export function writeJson(value: unknown): string {
  const outer = texts;
  const inner: string[] = [];
  texts = inner;
  try {
    const text = JSON.stringify(value) ?? "null";
    return inner.length === 0 ? text : text.replace(standIn, (_all, index: string) => inner[Number(index)]!);
  } finally {
    texts = outer;
  }
}
