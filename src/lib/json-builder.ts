import { ExactJson } from "./exact-json.ts";
import type { JsonListener } from "./json-scanner.ts";

/** Characters that are made values at once. The worst of them take a few milliseconds. */
const piece = 32 * 1024;

/** Before anything of a list or an object waits to be made a value. */
const nothing = -1;

type Container = unknown[] | Record<string, unknown>;

interface Level {
  isObject: boolean;
  /** Where the children begin and end that have been read and not been made values yet. */
  from: number;
  to: number;
  keyStart: number;
  keyEnd: number;
  /** The children that are values, as soon as there are some: small lists and objects are made with what is around them. */
  value: Container | undefined;
}

function newLevel(isObject: boolean): Level {
  return { isObject, from: nothing, to: nothing, keyStart: 0, keyEnd: 0, value: undefined };
}

/** A text at a wanted place that may have to be replaced by what it says. */
export interface Packed {
  holder: Container;
  key: string | number;
  written: ExactJson;
}

/**
 * Makes values of JSON text that a scanner reads, the same as `JSON.parse` makes: piece by piece, by giving it one run of
 * neighbours after the other. What stands at wanted places stays as it was written.
 */
export class JsonBuilder implements JsonListener {
  readonly packed: Packed[] = [];
  readonly #text: string;
  /** The outermost is a list of the one value that the text is. */
  readonly #levels: Level[] = [newLevel(false)];
  #top: Level = this.#levels[0]!;

  constructor(text: string) {
    this.#text = text;
  }

  /** What the text is, once it has been read to its end; in a list, so that it can be replaced there. */
  finish(): unknown[] {
    this.#make(this.#top);
    return this.#top.value as unknown[];
  }

  onKey(start: number, end: number): void {
    this.#top.keyStart = start;
    this.#top.keyEnd = end;
  }

  onBegin(start: number): void {
    const top = this.#top;
    if (top.from === nothing) top.from = top.isObject ? top.keyStart : start;
  }

  onOpen(isObject: boolean): void {
    this.#top = newLevel(isObject);
    this.#levels.push(this.#top);
  }

  onClose(end: number): void {
    const closed = this.#levels.pop()!;
    this.#top = this.#levels.at(-1)!;
    if (closed.value === undefined) return this.onScalar(end);
    this.#make(closed);
    this.#attach(closed.value);
  }

  onScalar(end: number): void {
    const top = this.#top;
    top.to = end;
    if (end - top.from >= piece) this.#make(top);
  }

  onWanted(start: number, end: number, unpack: boolean): void {
    const written = ExactJson.ofText(this.#text.slice(start, end));
    const key = this.#attach(written);
    if (unpack && written.kind === "string") this.packed.push({ holder: this.#top.value!, key, written });
  }

  /** Adds a value of its own, after what was read before it. @returns where it is. */
  #attach(value: unknown): string | number {
    const top = this.#top;
    this.#make(top);
    if (Array.isArray(top.value)) return top.value.push(value) - 1;
    const key = JSON.parse(this.#text.slice(top.keyStart, top.keyEnd)) as string;
    top.value![key] = value;
    return key;
  }

  /** Makes values of what waits for that. */
  #make(level: Level): void {
    const { from, to, isObject } = level;
    level.value ??= isObject ? {} : [];
    level.from = nothing;
    level.to = nothing;
    if (to <= from) return;
    const text = this.#text.slice(from, to);
    if (!Array.isArray(level.value)) Object.assign(level.value, JSON.parse(`{${text}}`));
    else for (const item of JSON.parse(`[${text}]`) as unknown[]) level.value.push(item);
  }
}
