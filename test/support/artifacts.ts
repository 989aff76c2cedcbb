import { createHash, randomBytes } from "node:crypto";

/** The fingerprint that stands for a text; a random one without. */
export function fingerprintOf(text: string = randomBytes(16).toString("hex")): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A commit id that stands for a text. */
export function commitOf(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}

/** The least an artifact report can say, and what a test adds to it. */
export function artifactBody(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    fingerprint: fingerprintOf(),
    filename: "web:1.4",
    build_url: "https://ci.example.com/7",
    commit_url: "https://git.example.com/c/1",
    ...more,
  };
}

/** A repo as reports name it. */
export function repoInfo(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, url: `https://git.example.com/${name}`, id: `id-of-${name}`, provider: "gitlab", ...more };
}
