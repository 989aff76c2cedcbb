/** A row as PostgreSQL's binary copy format has it; null stands for null. */
export type CopiedRow = readonly (Buffer | null)[];

const signature = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
const flagsBytes = 8;

/** The longest row that is taken apart: what is longer holds no row of a table that is read so. */
const mostRowBytes = 64 * 1024 * 1024;

/** Reads the row at the beginning of some bytes. @returns its length and values; undefined when it is not there as a whole. */
function rowAt(bytes: Buffer, from: number): { next: number; row: CopiedRow } | "end" | undefined {
  if (from + 2 > bytes.length) return undefined;
  const count = bytes.readInt16BE(from);
  if (count === -1) return "end";
  let at = from + 2;
  const row: (Buffer | null)[] = [];
  for (let field = 0; field < count; field += 1) {
    if (at + 4 > bytes.length) return undefined;
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) row.push(null);
    else {
      if (at + length > bytes.length) return undefined;
      row.push(bytes.subarray(at, at + length));
      at += length;
    }
  }
  return { next: at, row };
}

/**
 * Makes a reader of PostgreSQL's binary copy format that is given its bytes piece by piece, cut anywhere.
 * @param each told each row as soon as it is whole.
 * @returns what takes the next piece. @throws Error for what is not of that format.
 */
export function readBinaryCopy(each: (row: CopiedRow) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let begun = false;
  let ended = false;
  return (piece) => {
    if (ended) return;
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    if (!begun) {
      const head = signature.length + flagsBytes;
      if (rest.length < head) return;
      at = head + rest.readInt32BE(head - 4);
      if (!rest.subarray(0, signature.length).equals(signature)) throw new Error("These are no copied rows");
      if (at > rest.length) return;
      begun = true;
    }
    for (let found = rowAt(rest, at); found !== undefined; found = rowAt(rest, at)) {
      if (found === "end") {
        ended = true;
        return;
      }
      each(found.row);
      at = found.next;
    }
    rest = rest.subarray(at);
    if (rest.length > mostRowBytes) throw new Error("A copied row is too long");
  };
}
