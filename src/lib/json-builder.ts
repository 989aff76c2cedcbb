import { ExactJson } from "./exact-json.ts";
import type { JsonListener } from "./json-scanner.ts";

/** Characters that are parsed at once. The worst of them take a few milliseconds. */
const piece = 32 * 1024;

/** The value of `from` while nothing waits to be parsed. */
const nothing = -1;

type Container = unknown[] | Record<string, unknown>;

interface Level {
  isObject: boolean;
  /** Where the children begin and end that have been scanned but not parsed. */
  from: number;
  to: number;
  keyStart: number;
  keyEnd: number;
  /**
   * The children parsed so far; undefined until there are some. Small lists and objects are parsed with what is around
   * them.
   */
  value: Container | undefined;
}

function newLevel(isObject: boolean): Level {
  return { isObject, from: nothing, to: nothing, keyStart: 0, keyEnd: 0, value: undefined };
}

/** A string at a wanted place whose content may be JSON, which then takes its place. */
export interface Packed {
  holder: Container;
  key: string | number;
  written: ExactJson;
}

/**
 * Builds the value of a JSON text while a scanner reads it. It equals what `JSON.parse` makes, which is given one run
 * of neighbouring children after the other. Values at wanted places stay as they were written.
 */
export class JsonBuilder implements JsonListener {
  readonly packed: Packed[] = [];
  readonly #text: string;
  /** The innermost open list or object. The outermost is a list that will hold the whole value. */
  #top = newLevel(false);
  /** The lists and objects around it, the outermost first. */
  readonly #around: Level[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Gives the value, once the text was read to its end: in a list, so that it can be replaced there. */
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
    this.#around.push(this.#top);
    this.#top = newLevel(isObject);
  }

  onClose(end: number): void {
    const closed = this.#top;
    // oxlint-disable-next-line typescript/no-non-null-assertion -- what closes was opened, so one is around it
    this.#top = this.#around.pop()!;
    if (closed.value === undefined) return this.onScalar(end);
    const value = this.#make(closed);
    this.#attach(this.#make(this.#top), value);
  }

  onScalar(end: number): void {
    const top = this.#top;
    top.to = end;
    if (end - top.from >= piece) this.#make(top);
  }

  onWanted(start: number, end: number, unpack: boolean): void {
    const written = ExactJson.ofText(this.#text.slice(start, end));
    const holder = this.#make(this.#top);
    const key = this.#attach(holder, written);
    if (unpack && written.kind === "string") this.packed.push({ holder, key, written });
  }

  /** Adds a finished value to the container of the innermost level. @returns its index or key. */
  #attach(holder: Container, value: unknown): string | number {
    if (Array.isArray(holder)) return holder.push(value) - 1;
    const key = JSON.parse(this.#text.slice(this.#top.keyStart, this.#top.keyEnd)) as string;
    holder[key] = value;
    return key;
  }

  /** Parses the children of a level that wait for that. @returns all that the level holds. */
  #make(level: Level): Container {
    const { from, to, isObject } = level;
    level.value ??= isObject ? {} : [];
    level.from = nothing;
    level.to = nothing;
    if (to <= from) return level.value;
    const text = this.#text.slice(from, to);
    if (!Array.isArray(level.value)) Object.assign(level.value, JSON.parse(`{${text}}`));
    else for (const item of JSON.parse(`[${text}]`) as unknown[]) level.value.push(item);
    return level.value;
  }
}
