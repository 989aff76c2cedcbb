import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { attachmentDisposition, evidenceContentType, evidenceName } from "./evidence-file.ts";

const anyName = fc.string({ unit: "binary", maxLength: 400 });

describe("evidenceName", () => {
  it.each([
    ["sbom.json", "sbom.json"],
    ["../../etc/passwd", "passwd"],
    ["C:\\temp\\report.pdf", "report.pdf"],
    [undefined, "evidence"],
    ["", "evidence"],
    ["..", "evidence"],
    ["a/", "evidence"],
    ["re\u0000port\r\n.txt", "report.txt"],
    ["\u202egpj.exe", "gpj.exe"],
    ["naïve 文書.txt", "naïve 文書.txt"],
    ["\ud800x", "\ufffdx"],
    ["-rf", "-rf"],
  ])("%j is kept as %j", (given, name) => expect(evidenceName(given)).toBe(name));

  it("cuts long names between characters and keeps the extension", () => {
    expect(evidenceName(`${"文".repeat(100)}.tar.gz`)).toBe(`${"文".repeat(65)}.gz`);
    expect(evidenceName("😀".repeat(60))).toBe("😀".repeat(50));
  });

  it("is safe whatever is given, and stays the same", () => {
    fc.assert(
      fc.property(anyName, (given) => {
        const name = evidenceName(given);
        expect(name).not.toMatch(/[/\\\p{Cc}]/u);
        expect(name).not.toMatch(/^\.*$/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
        expect(name.isWellFormed()).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("evidenceContentType", () => {
  it.each<[string, string | number[], string]>([
    ["a.tgz", [0x1f, 0x8b, 8, 0], "application/gzip"],
    ["a.txt", [0x50, 0x4b, 3, 4], "application/zip"],
    ["a", "%PDF-1.7", "application/pdf"],
    ["a", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png"],
    ["a", [0xff, 0xd8, 0xff, 0xe0], "image/jpeg"],
    ["sbom.json", ' {"a": 1}', "application/json"],
    ["scan.SARIF", "[1]", "application/json"],
    ["a.json", "<html>", "text/plain; charset=utf-8"],
    ["page.html", "<html><script>", "text/plain; charset=utf-8"],
    ["a.svg", "<svg/>", "text/plain; charset=utf-8"],
    ["a.xml", "<?xml version='1.0'?>", "text/plain; charset=utf-8"],
    ["cut", [0x61, 0xe6, 0x96], "text/plain; charset=utf-8"],
    ["latin1", [0x61, 0xe9, 0x61], "application/octet-stream"],
    ["binary", [0, 1, 2], "application/octet-stream"],
    ["empty.json", [], "application/octet-stream"],
  ])("%s beginning with %j is %s", (name, start, type) => {
    expect(evidenceContentType(Buffer.from(start as string), name)).toBe(type);
  });
});

describe("attachmentDisposition", () => {
  it.each([
    ["sbom.json", 'attachment; filename="sbom.json"'],
    ["a b.txt", 'attachment; filename="a b.txt"'],
    ['a"b.txt', "attachment; filename=\"a_b.txt\"; filename*=UTF-8''a%22b.txt"],
    ["naïve(1)'.txt", "attachment; filename=\"na_ve(1)'.txt\"; filename*=UTF-8''na%C3%AFve%281%29%27.txt"],
    ["50%41.txt", "attachment; filename=\"50_41.txt\"; filename*=UTF-8''50%2541.txt"],
  ])("of %j is %j", (name, header) => expect(attachmentDisposition(name)).toBe(header));

  it("is one header of plain characters whatever the name, and says the name in full", () => {
    fc.assert(
      fc.property(anyName, (given) => {
        const name = evidenceName(given);
        const header = attachmentDisposition(name);
        expect(header).toMatch(/^attachment; filename="[ !#-[\]-~]*"(?:; filename\*=UTF-8''[\w.!~%-]*)?$/);
        const encoded = header.split("UTF-8''")[1];
        if (encoded !== undefined) expect(decodeURIComponent(encoded)).toBe(name);
      }),
      { numRuns: 2000 },
    );
  });
});
