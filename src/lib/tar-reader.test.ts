import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { buffer } from "node:stream/consumers";

import fc from "fast-check";
import { expect, it } from "vitest";

import { sha256 } from "./hash.ts";
import { DamagedArchive, readTar } from "./tar-reader.ts";
import { tarArchive, type TarEntry } from "./tar.ts";

const file = fc.record({
  path: fc.stringMatching(/^[a-z][a-z/._-]{0,30}$/),
  content: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
});
type File = typeof file extends fc.Arbitrary<infer T> ? T : never;

async function write(files: readonly File[]): Promise<Buffer> {
  async function* entries(): AsyncGenerator<TarEntry> {
    for (const { path, content } of files) yield { path, size: content.length, modified_at: 7, content };
  }
  return buffer(tarArchive(entries()));
}

async function read(archive: Buffer, pieceSize = 700): Promise<File[]> {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < archive.length; at += pieceSize) yield archive.subarray(at, at + pieceSize);
  }
  const files: File[] = [];
  for await (const { path, content } of readTar(pieces()))
    files.push({ path, content: await buffer(content) });
  return files;
}

it("reads what was written, in pieces of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { maxLength: 5 }),
      fc.integer({ min: 1, max: 3_000 }),
      async (files, size) => {
        expect(await read(await write(files), size)).toEqual(files);
      },
    ),
    { numRuns: 50 },
  );
});

it("notices a change of any byte that is no content", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { maxLength: 3 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (files, at, flip) => {
        const archive = await write(files);
        const place = at % archive.length;
        archive[place]! ^= flip;
        const got = await read(archive).catch((error: unknown) => error);
        expect(got instanceof DamagedArchive || !isDeepStrictEqual(got, files)).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

it("notices that the end is missing, wherever it was cut", async () => {
  const archive = await write([{ path: "a", content: Buffer.alloc(600, 1) }]);
  for (let length = 0; length < archive.length; length += 100)
    await expect(read(archive.subarray(0, length))).rejects.toThrow(DamagedArchive);
  await expect(read(Buffer.concat([archive, Buffer.from([0])]))).rejects.toThrow(DamagedArchive);
});

it("tells the digest of what precedes a file, and passes over what nobody takes", async () => {
  const archive = await write([
    { path: "a", content: Buffer.alloc(600, 1) },
    { path: "b", content: Buffer.from("b") },
  ]);
  const digests: string[] = [];
  for await (const member of readTar(Readable.from([archive]))) digests.push(member.digestBefore());
  expect(digests).toEqual([0, 512 + 1024].map((end) => sha256(archive.subarray(0, end)).toString("hex")));
});
