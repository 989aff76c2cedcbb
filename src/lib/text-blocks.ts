/** Characters of a block, about: what is done with one of them takes less than a millisecond. */
const blockLength = 64 * 1024;

/** Gathers a long text in blocks: to make one text of many megabytes, or to read one that was put together of many, holds up all else. */
export class TextBlocks {
  readonly #blocks: string[] = [];
  #last = "";

  add(text: string): void {
    this.#last += text;
    if (this.#last.length < blockLength) return;
    this.#blocks.push(this.#last);
    this.#last = "";
  }

  /** The text in its blocks, which follow each other: of a short one the only one. */
  get all(): readonly string[] {
    return this.#last === "" ? this.#blocks : [...this.#blocks, this.#last];
  }
}
