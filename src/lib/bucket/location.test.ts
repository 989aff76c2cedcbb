import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { bucketUrl, isLocationUrl, parseBucketUrl } from "./location.ts";
import { partBytesFor } from "./upload.ts";

describe("the URL of a place in a bucket", () => {
  it.each([
    ["s3://backups", { bucket: "backups", prefix: "" }],
    ["s3://backups/", { bucket: "backups", prefix: "" }],
    ["s3://backups/a", { bucket: "backups", prefix: "a/" }],
    ["s3://backups/a/b.c/", { bucket: "backups", prefix: "a/b.c/" }],
  ])("%s is read", (text, at) => expect(parseBucketUrl(text)).toEqual(at));

  it.each([
    "s3://",
    "s3://ab",
    "s3://Backups/a",
    "s3://backups//a",
    "s3://backups/a//b",
    "s3://backups/../a",
    "s3://backups/a/./b",
    "s3://backups/a b",
    "s3://user:secret@backups/a",
    "https://backups/a",
    "/backups/a",
  ])("%s is none", (text) => expect(parseBucketUrl(text)).toBeUndefined());

  it("comes back as it was written, but for a slash at its end", () => {
    const part = fc.stringMatching(/^[\w-][\w.-]{0,8}$/);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,20}[a-z0-9]$/), fc.array(part), (bucket, parts) => {
        const text = ["s3:/", bucket, ...parts].join("/");
        const at = parseBucketUrl(text);
        expect(at && bucketUrl(at)).toBe(text);
        expect(parseBucketUrl(`${text}/`)).toEqual(at);
      }),
    );
  });

  it("is told from a path", () => {
    expect(["s3://a", "FTP://a", "postgres://x"].every(isLocationUrl)).toBe(true);
    expect(["/s3", "s3:/a", "a/b", "./x://"].some(isLocationUrl)).toBe(false);
  });
});

it("parts are whole megabytes, and few enough for twice of what was expected", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 42 }), (bytes) => {
      const size = partBytesFor(bytes);
      expect(size % 2 ** 20).toBe(0);
      expect(size).toBeGreaterThanOrEqual(8 * 2 ** 20);
      expect((2 * bytes) / size).toBeLessThanOrEqual(10_000);
    }),
  );
});
