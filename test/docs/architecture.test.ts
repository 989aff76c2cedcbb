import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");

it("names the files of the configuration, each once", async () => {
  const text = await readFile(join(root, "docs", "architecture.md"), "utf8");
  const lines = text.split("\n").filter((line) => /^ \d+ {2}configuration /.test(line));
  const named = lines.flatMap((line) => line.match(/config[\w-]*\.ts/g) ?? []);
  const files = (await readdir(join(root, "src"))).filter((name) => /^config(?!.*\.test).*\.ts$/.test(name));
  expect(named.toSorted()).toEqual(files.toSorted());
});
