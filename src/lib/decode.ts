import { isStorable } from "./json.ts";

/** A reason why bytes were not accepted as text. */
export class TextError extends Error {}

/** Keeps a byte order mark: uploaded texts come back byte for byte. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes an uploaded file, exactly as it came.
 * @throws TextError with a reason for the caller when it is not UTF-8, or nothing the database can store.
 */
export function decodeText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new TextError("Text is not valid UTF-8");
  }
  if (!isStorable(text)) throw new TextError("Text must not contain NUL");
  return text;
}
