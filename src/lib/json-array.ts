/**
 * Writes a JSON array in pieces, without holding all of it.
 * @param parts the items: each text has some of them, separated by commas, or none if it is empty.
 */
export async function* arrayPieces(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let before = "[";
  for await (const part of parts) {
    if (part === "") continue;
    yield before;
    yield part;
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
