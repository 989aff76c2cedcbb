import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type CopiedRow, readBinaryCopy } from "./binary-copy.ts";

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

const head = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), int32(0), int32(0)]);

const written = (rows: readonly CopiedRow[]): Buffer =>
  Buffer.concat([
    head,
    ...rows.flatMap((row) => [
      int16(row.length),
      ...row.flatMap((value) => (value === null ? [int32(-1)] : [int32(value.length), value])),
    ]),
    int16(-1),
  ]);

describe("readBinaryCopy", () => {
  it("gives every row, wherever the pieces are cut", () => {
    const value = fc.option(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)));
    const cuts = fc.array(fc.nat({ max: 60 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.array(value, { maxLength: 4 }), { maxLength: 8 }), cuts, (rows, lengths) => {
        const found: CopiedRow[] = [];
        const read = readBinaryCopy((row) => found.push(row.map((each) => each && Buffer.from(each))));
        let rest = written(rows);
        for (const length of lengths) {
          read(rest.subarray(0, length));
          rest = rest.subarray(length);
        }
        read(rest);
        expect(found).toEqual(rows);
      }),
    );
  });

  it("refuses what is something else", () => {
    const read = readBinaryCopy(() => {});
    expect(() => read(Buffer.alloc(100, 7))).toThrow("no copied rows");
  });
});
