import { ExactJson } from "./exact-json.ts";
import { textPieces } from "./text.ts";

/** What stands before the id of what is left out. It is in no JSON. */
export const leftOutMark = "\u0001";

const marked = new RegExp(`${leftOutMark}(u?[0-9a-f-]{36})`);

/** Reads texts by their ids, as they stand in JSON. */
export type ReadTexts = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** Texts that are left out of JSON where all of them are too much at once, and put in while it is sent. */
export class LeftOutTexts {
  readonly #mostLength: number;
  /** Those that have not been read yet, in the order in which they were left out. */
  #waiting: { id: string; length: number }[] = [];

  /** @param mostLength how much is read at once, but for texts that are longer by themselves. */
  constructor(mostLength: number) {
    this.#mostLength = mostLength;
  }

  /** Whether nothing was left out. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Leaves a text out. @param id a UUID, or one after a `u` where something has a second text. @returns what stands in its place. */
  leaveOut(id: string, length: number): ExactJson {
    this.#waiting.push({ id, length });
    return ExactJson.ofText(`${leftOutMark}${id}`);
  }

  /** Takes the ids of the texts that are read next: this one, and those that were left out after it. */
  #next(id: string): string[] {
    const ids = new Set([id]);
    let total = 0;
    const count = this.#waiting.findIndex((one, at) => {
      total += one.length;
      if (at > 0 && total > this.#mostLength) return true;
      ids.add(one.id);
      return false;
    });
    this.#waiting = count === -1 ? [] : this.#waiting.slice(count);
    return [...ids];
  }

  /** Puts the texts into JSON. @param pieces of JSON, none of which ends within what stands for a text. */
  async *putInto(pieces: AsyncIterable<string>, read: ReadTexts): AsyncGenerator<string> {
    let texts: ReadonlyMap<string, string> = new Map();
    for await (const piece of pieces)
      for (const [at, part] of (piece.includes(leftOutMark) ? piece.split(marked) : [piece]).entries())
        if (at % 2 === 0) yield part;
        else {
          if (!texts.has(part)) texts = await read(this.#next(part));
          yield* textPieces(texts.get(part) ?? "null");
        }
  }
}
