/** Why a text was not accepted as JSON. */
export class JsonError extends Error {}

/** Levels of lists and objects. */
export const maxDepth = 100;

/** Where in JSON its parts are wanted as they were written: members by name, all items of a list. */
export interface Places {
  /**
   * This very value is wanted, unless it is null; what is inside is not looked for. `unpacked`: if it is a text that is
   * itself JSON, that JSON is. `always`: even if it is null.
   */
  exact?: "written" | "unpacked" | "always";
  members?: ReadonlyMap<string, Places>;
  items?: Places;
}

interface Level {
  isObject: boolean;
  places: Places | undefined;
}

/** A value that stands at a wanted place. */
export interface Range {
  start: number;
  end: number;
  unpack: boolean;
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapes = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)));

/** What a digit counts, given its code. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : syntaxError();
}

function syntaxError(): never {
  throw new JsonError("Syntax error");
}

/**
 * Reads JSON text once, strictly, without making values of it. What it accepts is JSON of at most 100 levels, without
 * text that the database cannot store and without keys that would touch a prototype. It can stop and go on, so that
 * reading a large text holds nothing else up.
 */
export class JsonScanner {
  readonly ranges: Range[] = [];
  readonly #text: string;
  readonly #levels: Level[] = [];
  #at = 0;
  /** What comes next: a value, a value or the end of its list, a key, a key or the end, what follows a value. */
  #next: "value" | "item" | "key" | "member" | "rest" = "value";
  /** Places in the value that comes next. */
  #places: Places | undefined;
  /** Where the wanted value that is being read begins, and how many levels there are around it. */
  #wanted: { start: number; depth: number; unpack: boolean } | undefined;

  constructor(text: string, places?: Places) {
    this.#text = text;
    this.#places = places;
  }

  /** Reads about so many characters more. @returns whether that was all. @throws JsonError for what is not accepted. */
  advance(characters: number): boolean {
    const stop = this.#at + characters;
    while (this.#at < stop) {
      const code = this.#skipBlanks();
      if (Number.isNaN(code)) return this.#end();
      this.#step(code);
    }
    return false;
  }

  #end(): boolean {
    if (this.#levels.length > 0 || this.#next !== "rest") syntaxError();
    return true;
  }

  #skipBlanks(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.#at += 1;
    }
  }

  #step(code: number): void {
    switch (this.#next) {
      case "rest":
        return this.#readRest(code);
      case "member":
        if (code === 0x7d) return this.#close();
        return this.#readKey(code);
      case "key":
        return this.#readKey(code);
      case "item":
        if (code === 0x5d) return this.#close();
        return this.#readValue(code);
      case "value":
        return this.#readValue(code);
    }
  }

  /** A comma, or the end of a list or an object. */
  #readRest(code: number): void {
    const level = this.#levels.at(-1);
    if (level === undefined) syntaxError();
    if (code === (level.isObject ? 0x7d : 0x5d)) return this.#close();
    if (code !== 0x2c) syntaxError();
    this.#at += 1;
    this.#next = level.isObject ? "key" : "value";
    this.#places = level.places?.items;
  }

  #readKey(code: number): void {
    if (code !== 0x22) syntaxError();
    const start = this.#at;
    const isPlain = this.#readString();
    const members = this.#levels.at(-1)!.places?.members;
    const written = this.#text.slice(start, this.#at);
    if (members !== undefined || !isPlain || written === '"__proto__"') {
      const key = isPlain ? written.slice(1, -1) : (JSON.parse(written) as string);
      if (key === "__proto__") throw new JsonError("The key __proto__ is not allowed");
      this.#places = members?.get(key);
    } else this.#places = undefined;
    if (this.#skipBlanks() !== 0x3a) syntaxError();
    this.#at += 1;
    this.#next = "value";
  }

  #readValue(code: number): void {
    const places = this.#places;
    this.#places = undefined;
    if (places?.exact !== undefined && (code !== 0x6e || places.exact === "always"))
      this.#wanted = {
        start: this.#at,
        depth: this.#levels.length,
        unpack: places.exact === "unpacked",
      };
    if (code === 0x7b || code === 0x5b) return this.#open(code === 0x7b, places);
    if (code === 0x22) this.#readString();
    else if (code === 0x74) this.#readWord("true");
    else if (code === 0x66) this.#readWord("false");
    else if (code === 0x6e) this.#readWord("null");
    else this.#readNumber();
    this.#ended();
  }

  #open(isObject: boolean, places: Places | undefined): void {
    const inside = places?.exact !== undefined ? undefined : places;
    if (this.#levels.push({ isObject, places: inside }) > maxDepth)
      throw new JsonError(`Nesting is deeper than ${maxDepth} levels`);
    this.#at += 1;
    this.#next = isObject ? "member" : "item";
    this.#places = isObject ? undefined : inside?.items;
  }

  #close(): void {
    this.#levels.pop();
    this.#at += 1;
    this.#ended();
  }

  #ended(): void {
    this.#next = "rest";
    if (this.#wanted?.depth !== this.#levels.length) return;
    const { start, unpack } = this.#wanted;
    this.ranges.push({ start, end: this.#at, unpack });
    this.#wanted = undefined;
  }

  #readWord(word: string): void {
    if (!this.#text.startsWith(word, this.#at)) syntaxError();
    this.#at += word.length;
  }

  #readNumber(): void {
    number.lastIndex = this.#at;
    if (!number.test(this.#text)) syntaxError();
    this.#at = number.lastIndex;
  }

  /** @returns whether it stands for itself, without escapes. */
  #readString(): boolean {
    const text = this.#text;
    let at = this.#at + 1;
    let isPlain = true;
    for (;;) {
      const code = text.charCodeAt(at);
      at += 1;
      if (code === 0x22) break;
      if (code === 0x5c) {
        isPlain = false;
        at = this.#readEscape(at);
      } else if (!(code >= 0x20)) syntaxError();
    }
    this.#at = at;
    return isPlain;
  }

  #readEscape(at: number): number {
    const letter = this.#text.charCodeAt(at);
    if (letter !== 0x75) return escapes.has(letter) ? at + 1 : syntaxError();
    const unit = this.#codeUnit(at);
    const isHigh = unit >= 0xd800 && unit < 0xdc00;
    const isPaired = isHigh && this.#text.startsWith("\\u", at + 5);
    const low = isPaired ? this.#codeUnit(at + 6) : 0;
    if (isHigh && low >= 0xdc00 && low < 0xe000) return at + 11;
    if (unit === 0 || (unit >= 0xd800 && unit < 0xe000))
      throw new JsonError("Text must not contain NUL or unpaired surrogates");
    return at + 5;
  }

  /** The four digits after the `u` at this place. */
  #codeUnit(at: number): number {
    let unit = 0;
    for (let index = at + 1; index <= at + 4; index += 1)
      unit = unit * 16 + hexDigit(this.#text.charCodeAt(index));
    return unit;
  }
}
