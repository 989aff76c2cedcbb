import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createIdSource, parseWireId, wireId } from "./ids.ts";

const uuid7 = /^[a-f0-9]{8}-[a-f0-9]{4}-7[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{8}0000$/;

describe("createIdSource", () => {
  it("makes UUIDs of version 7 that end in zeros", () => {
    const ids = createIdSource();
    for (let count = 0; count < 100; count += 1) expect(ids.next()).toMatch(uuid7);
  });

  it("makes ids that are unique and in order, however the clock runs", () => {
    const clock = fc.array(fc.integer({ min: 0, max: 2 ** 45 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(clock, (times) => {
        let index = 0;
        const ids = createIdSource(() => times[index++ % times.length]!);
        const made = Array.from({ length: 200 }, () => ids.next());
        expect(new Set(made).size).toBe(made.length);
        expect([...made].sort()).toEqual(made);
      }),
    );
  });

  it("moves on to the next millisecond when one has no numbers left", () => {
    const ids = createIdSource(() => 1);
    const made = Array.from({ length: 5_000 }, () => ids.next());
    expect(new Set(made.map((id) => id.slice(0, 18))).size).toBe(made.length);
    expect([...made].sort()).toEqual(made);
    expect(made[4_096]!.slice(0, 13)).toBe("00000000-0002");
  });

  it("holds the time in its first 48 bits", () => {
    expect(
      createIdSource(() => 0x0123_4567_89ab)
        .next()
        .slice(0, 13),
    ).toBe("01234567-89ab");
  });
});

describe("the wire form", () => {
  it("loses nothing", () => {
    const ids = createIdSource();
    for (let count = 0; count < 100; count += 1) {
      const id = ids.next();
      expect(wireId(id)).toMatch(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/);
      expect(parseWireId(wireId(id))).toBe(id);
    }
  });

  it("is read from nothing else", () => {
    const id = wireId(createIdSource().next());
    for (const text of ["", id.toUpperCase(), `${id}0000`, ` ${id}`, `${id}\n`, id.slice(1), "x".repeat(32)])
      expect(parseWireId(text)).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const read = parseWireId(text);
        expect(read === undefined || wireId(read) === text).toBe(true);
      }),
    );
  });
});
