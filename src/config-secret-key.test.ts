import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { flushesDuring, tellsDescriptors } from "../test/support/flushes.ts";
import { ConfigError, loadSecretKey } from "./config.ts";

describe("loadSecretKey", () => {
  it("prefers the configured key", () => {
    expect(loadSecretKey({ secretKey: "given", dataDir: "/nowhere" })).toBe("given");
  });

  it("makes one once, for the owner's eyes, in a directory it creates", () => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-config-"));
    try {
      const dataDir = join(folder, "a", "b");
      const key = loadSecretKey({ secretKey: undefined, dataDir });
      expect(key.length).toBeGreaterThanOrEqual(43);
      expect(loadSecretKey({ secretKey: undefined, dataDir })).toBe(key);
      expect(readFileSync(join(dataDir, "secret-key"), "utf8")).toBe(key);
      expect(statSync(join(dataDir, "secret-key")).mode & 0o777).toBe(0o600);
      expect(readdirSync(dataDir)).toEqual(["secret-key"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.runIf(tellsDescriptors)("brings the one it makes to the disk, and its name", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "waybill-config-"));
    try {
      const make = () => loadSecretKey({ secretKey: undefined, dataDir });
      expect(await flushesDuring(make)).toEqual([
        expect.stringMatching(`^${dataDir}/secret-key\\.\\d+\\.[0-9a-f]{8}$`),
        dataDir,
      ]);
      expect(await flushesDuring(make)).toEqual([]);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it("refuses a file without a key, as a full disk may leave it, rather than sealing with an empty one", () => {
    const dataDir = mkdtempSync(join(tmpdir(), "waybill-config-"));
    try {
      for (const text of ["", "\n", "too short"]) {
        writeFileSync(join(dataDir, "secret-key"), text);
        expect(() => loadSecretKey({ secretKey: undefined, dataDir })).toThrow(ConfigError);
      }
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});
