/** A reason why a text was not accepted as JSON. */
export class JsonError extends Error {}

/** Deepest nesting of lists and objects. */
export const maxDepth = 100;

/** Where in a JSON value parts are wanted as they were written: in members by name, in all items of a list. */
export interface Places {
  /**
   * Set when this very value is wanted, which then hides whatever is inside of it. `written`: unless it is null.
   * `unpacked`: a string whose content is JSON gives that JSON. `always`: even if it is null.
   */
  exact?: "written" | "unpacked" | "always";
  members?: ReadonlyMap<string, Places>;
  items?: Places;
}

/** Most values that a text may hold: each takes memory. Those inside of wanted ones do not count. */
const maxValues = 1_000_000;

/** Most members of one object, unless it is wanted as it was written: building an object cannot be interrupted. */
const maxMembers = 20_000;

interface Level {
  isObject: boolean;
  places: Places | undefined;
  members: number;
}

/**
 * A receiver of what a scanner finds, in order, as offsets into the text. Nothing inside of a wanted value is reported.
 */
export interface JsonListener {
  /** Called for each key, with the range of its text, quotes included. */
  onKey(start: number, end: number): void;
  onBegin(start: number): void;
  onOpen(isObject: boolean): void;
  /** Called when the innermost list or object has ended. */
  onClose(end: number): void;
  /** Called when a string, number or word has ended. */
  onScalar(end: number): void;
  /** Called for each value at a wanted place. */
  onWanted(start: number, end: number, unpack: boolean): void;
}

export interface ScanOptions {
  places?: Places | undefined;
  listener?: Partial<JsonListener> | undefined;
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapes = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)));

/** Gives the value of a hexadecimal digit, by its character code. */
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
 * text that the database cannot store and without keys that would touch a prototype. It can stop and go on anywhere, so
 * that reading a large text holds nothing else up.
 */
export class JsonScanner {
  readonly #text: string;
  readonly #listener: Partial<JsonListener> | undefined;
  readonly #levels: Level[] = [];
  #at = 0;
  /** Where to stop: nothing begins at or after it. */
  #stop = 0;
  /**
   * What comes next: a value, a value or the end of its list, a key, a key or the end, the colon after a key, what follows a
   * value, or the rest of a text or of a key that was too long to be read at once.
   */
  #next: "value" | "item" | "key" | "member" | "colon" | "rest" | "textRest" | "keyRest" = "value";
  /** Places in the value that comes next. */
  #places: Places | undefined;
  /** Where the wanted value that is being read begins, and how many levels there are around it. */
  #wanted: { start: number; depth: number; unpack: boolean } | undefined;
  /** Where the key that is being read begins. */
  #keyStart = 0;
  /** Whether the text that is being read stands for itself so far, without escapes. */
  #isPlain = true;
  #values = 0;

  constructor(text: string, options: ScanOptions = {}) {
    this.#text = text;
    this.#places = options.places;
    this.#listener = options.listener;
  }

  /** Reads about so many characters more. @returns whether that was all. @throws JsonError for what is not accepted. */
  advance(characters: number): boolean {
    this.#stop = this.#at + characters;
    while (this.#at < this.#stop)
      if (this.#next === "textRest") this.#goOnWithText();
      else if (this.#next === "keyRest") this.#goOnWithKey();
      else {
        const code = this.#skipBlanks();
        if (Number.isNaN(code)) return this.#end();
        if (this.#at < this.#stop) this.#step(code);
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
      if (this.#at >= this.#stop) return code;
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
      case "colon":
        return this.#readColon(code);
      default:
        return this.#readValue(code);
    }
  }

  /** Reads what follows a value: a comma, or the end of the list or object. */
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
    this.#keyStart = this.#at;
    this.#begin();
    if (this.#readText()) this.#endKey();
    else this.#next = "keyRest";
  }

  #goOnWithKey(): void {
    if (this.#readText()) this.#endKey();
  }

  #endKey(): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- keys are read in objects only
    const level = this.#levels.at(-1)!;
    const [start, end] = [this.#keyStart, this.#at];
    const members = level.places?.members;
    if (members !== undefined || !this.#isPlain || end - start === '"__proto__"'.length) {
      const written = this.#text.slice(start, end);
      const key = this.#isPlain ? written.slice(1, -1) : (JSON.parse(written) as string);
      if (key === "__proto__") throw new JsonError("The key __proto__ is not allowed");
      this.#places = members?.get(key);
    } else this.#places = undefined;
    this.#next = "colon";
    if (this.#wanted !== undefined) return;
    level.members += 1;
    if (level.members > maxMembers) throw new JsonError(`An object has more than ${maxMembers} members`);
    this.#listener?.onKey?.(start, end);
  }

  #readColon(code: number): void {
    if (code !== 0x3a) syntaxError();
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
    if (this.#wanted === undefined) this.#count();
    if (code === 0x7b || code === 0x5b) return this.#open(code === 0x7b, places);
    if (code === 0x22) {
      this.#begin();
      if (this.#readText()) this.#ended(false);
      else this.#next = "textRest";
      return;
    }
    if (code === 0x74) this.#readWord("true");
    else if (code === 0x66) this.#readWord("false");
    else if (code === 0x6e) this.#readWord("null");
    else this.#readNumber();
    this.#ended(false);
  }

  #goOnWithText(): void {
    if (this.#readText()) this.#ended(false);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > maxValues) throw new JsonError(`There are more than ${maxValues} values`);
    this.#listener?.onBegin?.(this.#at);
  }

  #open(isObject: boolean, places: Places | undefined): void {
    const inside = places?.exact !== undefined ? undefined : places;
    if (this.#levels.push({ isObject, places: inside, members: 0 }) > maxDepth)
      throw new JsonError(`Nesting is deeper than ${maxDepth} levels`);
    if (this.#wanted === undefined) this.#listener?.onOpen?.(isObject);
    this.#at += 1;
    this.#next = isObject ? "member" : "item";
    this.#places = isObject ? undefined : inside?.items;
  }

  #close(): void {
    this.#levels.pop();
    this.#at += 1;
    this.#ended(true);
  }

  #ended(wasOpen: boolean): void {
    this.#next = "rest";
    if (this.#wanted === undefined)
      if (wasOpen) this.#listener?.onClose?.(this.#at);
      else this.#listener?.onScalar?.(this.#at);
    else if (this.#wanted.depth === this.#levels.length) {
      const { start, unpack } = this.#wanted;
      this.#wanted = undefined;
      this.#listener?.onWanted?.(start, this.#at, unpack);
    }
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

  /** Skips the quotation mark that a string or a key begins with. */
  #begin(): void {
    this.#at += 1;
    this.#isPlain = true;
  }

  /** Reads on in a string until its end, or until it is time to pause. @returns whether it has ended. */
  #readText(): boolean {
    const text = this.#text;
    // Short ones are read to their end.
    const stop = this.#stop + 64;
    let at = this.#at;
    while (at < stop) {
      const code = text.charCodeAt(at);
      at += 1;
      if (code === 0x22) {
        this.#at = at;
        return true;
      }
      if (code === 0x5c) {
        this.#isPlain = false;
        at = this.#readEscape(at);
      } else if (!(code >= 0x20)) syntaxError();
    }
    this.#at = at;
    return false;
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

  /** Reads the four digits after the `u` at this offset. */
  #codeUnit(at: number): number {
    let unit = 0;
    for (let index = at + 1; index <= at + 4; index += 1)
      unit = unit * 16 + hexDigit(this.#text.charCodeAt(index));
    return unit;
  }
}
