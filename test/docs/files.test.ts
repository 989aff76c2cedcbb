import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** Where things would be that somebody adds, as the guide to adding an endpoint has them. */
const examples = new Set(["src/contract/widgets.ts"]);

it("documents name source files that are there, from the root or from src", async () => {
  const docs = (await readdir(join(root, "docs"))).filter((name) => name.endsWith(".md"));
  const pages = ["README.md", "CONTRIBUTING.md", ...docs.map((name) => join("docs", name))];
  const missing: string[] = [];
  let named = 0;
  for (const page of pages) {
    const text = await readFile(join(root, page), "utf8");
    for (const [, path] of text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.tsx?)`/g)) {
      named += 1;
      const isThere = existsSync(join(root, path!)) || existsSync(join(root, "src", path!));
      if (!isThere && !examples.has(path!)) missing.push(`${page}: ${path}`);
    }
  }
  expect(missing).toEqual([]);
  expect(named).toBeGreaterThan(50);
});
