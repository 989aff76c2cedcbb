import { createHash } from "node:crypto";

import fc from "fast-check";
import { expect, it } from "vitest";

import { Compiler, type Epoch, render, type Seed, valuesOf } from "./template.ts";

const from = 1_795_415_000_000_000;
const to = from + 60_000_000;

const digest = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));
const idAt = (milliseconds: number, rest: string): string => {
  const time = milliseconds.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8${rest.slice(0, 3)}-${rest.slice(3, 11)}`;
};
const moment = fc.integer({ min: from, max: to });
const first: Epoch = { number: 0, start: from, stretch: 1 };

function compiled(seed: Seed, text: string, epoch: Epoch): string {
  const compiler = new Compiler(seed);
  const template = compiler.compile(text);
  return render(template, valuesOf(compiler.slots, epoch));
}

const rows = fc
  .record({ fingerprint: digest, other: digest, at: moment, name: fc.stringMatching(/^[ g-z{}]{0,20}$/) })
  .filter(({ fingerprint, other }) => fingerprint !== other)
  .map(({ fingerprint, other, at, name }) => {
    const id = idAt(Math.floor(at / 1000), other);
    const seconds = `${Math.floor(at / 1_000_000)}.${String(at % 1_000_000).padStart(6, "0")}`;
    const text = `${id}0000\t${fingerprint}\t${other}\t{"at": ${seconds}, "name": "${name}", "id": "${id}"}`;
    return {
      text,
      id,
      fingerprint,
      other,
      seed: { from, to, ids: new Set([id]), digests: new Set([fingerprint]), names: [] },
    };
  });

it("gives in the first epoch what was reported, to the letter", () => {
  fc.assert(
    fc.property(rows, ({ text, seed }) => {
      expect(compiled(seed, text, first)).toBe(text);
    }),
  );
});

it("gives in every epoch other ids and digests, the same in each place, and leaves all else", () => {
  fc.assert(
    fc.property(
      rows,
      fc.integer({ min: 1, max: 1_000_000 }),
      ({ text, seed, id, fingerprint, other }, number) => {
        const epoch = { number, start: from - number * 100_000_000, stretch: 1.5 };
        const made = compiled(seed, text, epoch);
        const [madeId = "", madeFingerprint, madeOther, json = ""] = made.split("\t");
        expect(madeId < `${id}0000`).toBe(true);
        expect(madeFingerprint).not.toBe(fingerprint);
        expect(madeOther).toBe(other);
        expect((JSON.parse(json) as { id: string }).id).toBe(madeId.slice(0, 32));
        expect(made.length).toBe(text.length);
      },
    ),
  );
});

it("keeps the order of ids and moments within an epoch", () => {
  fc.assert(
    fc.property(moment, moment, fc.double({ min: 1, max: 500, noNaN: true }), (one, two, stretch) => {
      const ids = [one, two].map((at) => idAt(Math.floor(at / 1000), "0".repeat(11)));
      const seed = { from, to, ids: new Set(ids), digests: new Set<string>(), names: [] };
      const epoch = { number: 3, start: from - 100_000_000_000, stretch };
      const made = ids.map((id) => compiled(seed, id, epoch));
      expect(made[0]! < made[1]!).toBe(ids[0]! < ids[1]!);
    }),
  );
});

it("replaces what stands for a commit by what stands for the other one", () => {
  const commit = "ab".repeat(20);
  const seed = { from, to, ids: new Set<string>(), digests: new Set([commit]), names: ["release-1"] };
  const md5 = (text: string): string => createHash("md5").update(text).digest("hex");
  const epoch = { number: 7, start: from, stretch: 1 };
  const [made, key, name] = compiled(seed, `${commit} web@${md5(commit)} release-1 release-10`, epoch).split(
    " ",
  );
  expect(key).toBe(`web@${md5(made!)}`);
  expect(name).toBe("release-1.7");
});
