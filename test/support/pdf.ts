import { inflateSync } from "node:zlib";

/** Windows-1252 from 0x80 to 0x9f; what has no character there is not to be met. Not all decoders of that name know it. */
const beyondLatin1 = "€?‚ƒ„…†‡ˆ‰Š‹Œ?Ž??‘’“”•–—˜™š›œ?žŸ";

function decoded(byte: number): string {
  return byte >= 0x80 && byte <= 0x9f ? beyondLatin1[byte - 0x80]! : String.fromCharCode(byte);
}

/** Strings of an array that a page shows: `[<48> 20 <69>] TJ`. */
function shownText(array: string): string {
  const bytes = Array.from(array.matchAll(/<([0-9a-f]*)>/g), ([, hex]) => Buffer.from(hex!, "hex"));
  return Array.from(Buffer.concat(bytes), decoded).join("");
}

/** The texts of a PDF, each piece on a line of its own. */
export function textOfPdf(pdf: Buffer): string {
  const pieces: string[] = [];
  const starts = pdf.toString("latin1").matchAll(/\/Length (\d+)\n\/Filter \/FlateDecode\n>>\nstream\n/g);
  for (const start of starts) {
    const begin = start.index + start[0].length;
    const stream = inflateSync(pdf.subarray(begin, begin + Number(start[1]))).toString("latin1");
    for (const [, array] of stream.matchAll(/\[([^\]]*)\] TJ/g)) pieces.push(shownText(array!));
  }
  return pieces.join("\n");
}

/** How many pages a PDF has. */
export function pagesOfPdf(pdf: Buffer): number {
  return Number(/\/Type \/Pages\n\/Count (\d+)/.exec(pdf.toString("latin1"))![1]);
}
