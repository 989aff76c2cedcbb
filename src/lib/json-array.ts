/**
 * The text of a JSON array, a part at a time, from texts of some of its items each, with commas between these. A text that
 * is empty has none.
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
