import { ExactJson } from "./exact-json.ts";
import { jsonText } from "./json-text.ts";

/**
 * Writes the beginning of what `writeJson` writes, at a cost that does not depend on the value's size.
 * @param length characters that are wanted. If there are more, slightly more are given.
 */
export function jsonStart(value: unknown, length: number): string {
  const start = new Start(length);
  start.add(value);
  return start.text;
}

class Start {
  text = "";
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }

  get #isEnough(): boolean {
    return this.text.length > this.#length;
  }

  add(value: unknown): void {
    if (value instanceof ExactJson) this.text += value.text.slice(0, this.#length + 1);
    else if (Array.isArray(value)) this.#addList(value);
    else if (typeof value === "object" && value !== null) this.#addObject(value);
    else this.#addScalar(value);
  }

  #addScalar(value: unknown): void {
    // Two more than are wanted: the last may be half of a pair.
    const given = typeof value === "string" ? value.slice(0, this.#length + 2) : value;
    this.text += jsonText(given) ?? "null";
  }

  #addList(list: readonly unknown[]): void {
    this.text += "[";
    for (const [at, item] of list.entries()) {
      if (this.#isEnough) return;
      if (at > 0) this.text += ",";
      this.add(item);
    }
    this.text += "]";
  }

  #addObject(object: object): void {
    this.text += "{";
    let separator = "";
    for (const key of Object.keys(object)) {
      if (this.#isEnough) return;
      const value = (object as Record<string, unknown>)[key];
      if (value === undefined) continue;
      this.text += separator;
      this.#addScalar(key);
      this.text += ":";
      this.add(value);
      separator = ",";
    }
    this.text += "}";
  }
}
