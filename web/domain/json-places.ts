/** A place in a text: line and column from 1. */
interface TextPlace {
  line: number;
  column: number;
}

function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** What keeps a text from being JSON, and where. */
class JsonMistake extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const string = /"(?:[ !#-[\]-\u{10FFFF}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y;
const space = /[ \t\n\r]*/y;

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** Reads JSON and notes where each key and each item of a list begins: browsers tell neither, nor where a mistake is. */
class JsonReader {
  /** Offsets by JSON pointer. */
  readonly found = new Map<string, number>();
  private readonly text: string;
  private at = 0;

  /** @throws JsonMistake */
  constructor(text: string) {
    this.text = text;
    this.take(space);
    this.value("");
    if (this.at < text.length) throw new JsonMistake("Nothing may stand behind the end", this.at);
  }

  /** Takes what stands here if it is so, and says what that was. */
  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0];
    this.at += taken?.length ?? 0;
    return taken;
  }

  private takeSign(...signs: readonly string[]): string {
    const sign = this.text[this.at] ?? "";
    if (!signs.includes(sign)) throw new JsonMistake(`Expected ${signs.join(" or ")} here`, this.at);
    this.at += 1;
    this.take(space);
    return sign;
  }

  private takeString(): string {
    const written = this.take(string);
    if (written === undefined) throw new JsonMistake("Expected a text in double quotes here", this.at);
    this.take(space);
    return written;
  }

  /** Reads what stands between brackets, one after the other with commas. */
  private list(end: string, one: (index: number) => void): void {
    this.at += 1;
    this.take(space);
    if (this.text[this.at] === end) this.takeSign(end);
    else {
      let index = 0;
      do {
        one(index);
        index += 1;
      } while (this.takeSign(",", end) === ",");
    }
  }

  private member(pointer: string): void {
    const start = this.at;
    const key = `${pointer}/${escaped(String(JSON.parse(this.takeString())))}`;
    this.found.set(key, start);
    this.takeSign(":");
    this.value(key);
  }

  private value(pointer: string): void {
    if (!this.found.has(pointer)) this.found.set(pointer, this.at);
    const first = this.text[this.at];
    if (first === "{") this.list("}", () => this.member(pointer));
    else if (first === "[") this.list("]", (index) => this.value(`${pointer}/${index}`));
    else if (first === '"') this.takeString();
    else if (this.take(scalar) === undefined) throw new JsonMistake("Expected a value here", this.at);
    else this.take(space);
  }
}

/**
 * Finds where in a JSON text a pointer leads: to the key of a member, or to an item of a list. Of a pointer that leads nowhere the part
 * counts that does.
 * @param text JSON without mistakes.
 */
export function placeInJson(text: string, pointer: string): TextPlace {
  const { found } = new JsonReader(text);
  for (let part = pointer; part !== ""; part = part.slice(0, part.lastIndexOf("/"))) {
    const at = found.get(part);
    if (at !== undefined) return placeAt(text, at);
  }
  return placeAt(text, found.get("") ?? 0);
}

/** Says what keeps a text from being a JSON object, and where; undefined for one that is. */
export function mistakeInJson(text: string): (TextPlace & { message: string }) | undefined {
  try {
    const { found } = new JsonReader(text);
    const start = found.get("") ?? 0;
    if (text[start] === "{") return undefined;
    return { ...placeAt(text, start), message: "This has to be an object: { … }" };
  } catch (error) {
    if (!(error instanceof JsonMistake)) throw error;
    return { ...placeAt(text, error.offset), message: error.message };
  }
}
