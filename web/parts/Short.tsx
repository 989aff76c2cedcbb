import { shortWords } from "../domain/provenance.ts";

/** Shows a name with the digests in it shortened; printed it is whole. */
export function Short({ text }: { text: string }) {
  const words = shortWords(text);
  return words === text ? text : <span data-whole={text}>{words}</span>;
}
