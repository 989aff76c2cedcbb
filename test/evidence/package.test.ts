import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createFileStore } from "../../src/evidence/files.ts";
import type { EvidenceStore } from "../../src/evidence/store.ts";
import { auditPackage, type PackageEntry } from "../../src/modules/views/audit-packages/archive-service.ts";
import { TestClock } from "../support/clock.ts";
import { put, temporaryFolder } from "../support/evidence.ts";

let folder: ReturnType<typeof temporaryFolder>;
let evidence: EvidenceStore;
let out: string;
beforeEach(() => {
  folder = temporaryFolder();
  evidence = createFileStore(join(folder.path, "evidence"));
  out = join(folder.path, "out", "inside");
  mkdirSync(out, { recursive: true });
});
afterEach(() => folder.remove());

async function file(path: string[], content: string | Buffer): Promise<PackageEntry> {
  const stored = await put(evidence, content);
  return {
    kind: "evidence",
    path,
    file: { id: "x", filename: "x", content_type: "x", ...stored },
  };
}

async function* each(...entries: PackageEntry[]): AsyncGenerator<PackageEntry> {
  yield* entries;
}

/** Unpacks with the system's tar, as those who get a package do. */
async function unpack(name: string, ...entries: PackageEntry[]): Promise<string> {
  const { body } = auditPackage({ evidence, clock: new TestClock() }, name, each(...entries));
  const tar = spawn("tar", ["-x", "-C", out, "-f", "-"], { stdio: ["pipe", "ignore", "pipe"] });
  const ended = once(tar, "exit");
  await pipeline(body, tar.stdin);
  expect((await ended)[0]).toBe(0);
  return join(out, readdirSync(out)[0]!);
}

function check(root: string): string {
  return execFileSync("sha256sum", ["--strict", "-c", "SHA256SUMS"], { cwd: root, encoding: "utf8" });
}

describe("an audit package", () => {
  it("has metadata and evidence as they are, and a manifest that sha256sum checks", async () => {
    const large = Buffer.alloc(1_000_003, 5);
    const root = await unpack(
      "trail-7",
      { kind: "metadata", path: ["trail.json"], json: '{"name":"trail 7"}' },
      await file(["evidence", "0190", "sbom.json"], "{}"),
      await file(["evidence", "0191", "naïve 文書.txt"], large),
      await file(["evidence", "0192", "empty"], ""),
    );
    expect(root.endsWith("/trail-7")).toBe(true);
    expect(check(root).trim().split("\n")).toHaveLength(4);
    expect(JSON.parse(readFileSync(join(root, "trail.json"), "utf8"))).toEqual({ name: "trail 7" });
    expect(large.equals(readFileSync(join(root, "evidence/0191/naïve 文書.txt")))).toBe(true);
    writeFileSync(join(root, "trail.json"), "changed");
    expect(() => check(root)).toThrow("Command failed");
  });

  it("keeps every file in its folder, whatever it is called", async () => {
    const hostile = [
      "..",
      "../../../escape",
      "/etc/passwd",
      "a\nb  c",
      "-rf",
      "~root",
      "a\\b",
      "\u202egpj.exe",
    ];
    const long = ["文".repeat(90), "n".repeat(199), "CON", "nul.txt", ".", "", "SHA256SUMS", "sha256sums"];
    const names = [...hostile, ...long];
    const entries = await Promise.all(names.map((name, index) => file([name], `content ${index}`)));
    const root = await unpack("../../up", ...entries);
    expect(readdirSync(out)).toHaveLength(1);
    expect(readdirSync(join(folder.path, "out"))).toEqual(["inside"]);
    expect(existsSync(join(folder.path, "escape"))).toBe(false);
    expect(check(root).trim().split("\n")).toHaveLength(names.length);
    expect(readdirSync(root).every((name) => /^[^-~]/.test(name))).toBe(true);
  });

  it("keeps files of the same name apart", async () => {
    const same = await Promise.all(["a.txt", "A.txt", "a.txt", "a"].map((name, n) => file([name], `${n}`)));
    const root = await unpack("p", ...same);
    expect(readdirSync(root).sort()).toEqual(["A-2.txt", "SHA256SUMS", "a", "a-3.txt", "a.txt"]);
    check(root);
  });

  it("breaks off when evidence is damaged or missing", async () => {
    const entry = await file(["a"], "content");
    const { sha256 } = (entry as Extract<PackageEntry, { kind: "evidence" }>).file;
    writeFileSync(join(folder.path, "evidence", sha256.slice(0, 2), sha256), "kontent");
    await expect(unpack("p", entry)).rejects.toThrow("is damaged");
    await evidence.remove(sha256);
    await expect(unpack("p", entry)).rejects.toThrow("is missing");
  });

  it("is built while it is read", async () => {
    const entry = await file(["x"], Buffer.alloc(1_000_000));
    let made = 0;
    async function* many(): AsyncGenerator<PackageEntry> {
      for (; made < 100; made += 1) yield { ...entry, path: [String(made)] };
    }
    const { body } = auditPackage({ evidence, clock: new TestClock() }, "p", many());
    let read = 0;
    for await (const piece of body) {
      read += (piece as Buffer).length;
      if (read > 3_000_000) break;
    }
    expect(made).toBeLessThan(6);
  });
});
