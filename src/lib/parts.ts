import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { compileFunction } from "node:vm";

/** Parts of the build that run late, or again and again: a file each that needs no other. `scripts/build-program.mjs` makes them. */
const names = ["age", "mail", "pdf", "sandbox", "yaml"] as const;

export type PartName = (typeof names)[number];

/** Where they are; undefined when the program runs from its sources, which has none. */
const folder = extname(import.meta.filename) === ".ts" ? undefined : join(import.meta.dirname, "parts");

const fileOf = (of: string, name: PartName): string => join(of, `${name}.cjs`);

const texts = new Map<PartName, string>();
const loaded = new Map<PartName, unknown>();

/**
 * Reads all parts into memory, from where they are taken from now on: the files of a server may be replaced by those of another version, or
 * removed, while it runs. They are not run before somebody wants them.
 */
export async function holdParts(): Promise<void> {
  if (folder === undefined) return;
  await Promise.all(
    names.map(async (name) => {
      if (!loaded.has(name)) texts.set(name, await readFile(fileOf(folder, name), "utf8"));
    }),
  );
}

/** Finds the text of a part; undefined when the program runs from its sources. */
export function textOfPart(name: PartName): string | undefined {
  return folder && (texts.get(name) ?? readFileSync(fileOf(folder, name), "utf8"));
}

/** Runs a part, once. @param fromSources loads the same where the program runs from its sources. @returns what it exports. */
export async function loadPart<T>(name: PartName, fromSources: () => Promise<T>): Promise<T> {
  if (loaded.has(name)) return loaded.get(name) as T;
  const text = textOfPart(name);
  if (folder === undefined || text === undefined) return fromSources();
  const filename = fileOf(folder, name);
  const run = compileFunction(text, ["module", "exports", "require", "__filename", "__dirname"], {
    filename,
  });
  const part = { exports: {} };
  run(part, part.exports, createRequire(filename), filename, folder);
  loaded.set(name, part.exports);
  texts.delete(name);
  return part.exports as T;
}
