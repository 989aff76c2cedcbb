import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** One file of the program takes something from another. Paths are relative to the root, with `/`. */
export interface Import {
  from: string;
  to: string;
  /** Whether types are all that is taken. */
  typesOnly: boolean;
}

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const statement = /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^;'"]*?from\s+"(\.[^"]+)"/g;
const call = /\bimport\(\s*"(\.[^"]+)"\s*\)|(?:^|\n)import\s+"(\.[^"]+)"/g;

/** Reads which files a text of TypeScript takes from. */
export function importsOf(from: string, text: string): Import[] {
  const at = (path: string): string => posix.normalize(posix.join(posix.dirname(from), path));
  return [
    ...[...text.matchAll(statement)].map(([, type, path]) => ({
      from,
      to: at(path!),
      typesOnly: type !== undefined,
    })),
    ...[...text.matchAll(call)].map(([, called, bare]) => ({
      from,
      to: at(called ?? bare!),
      typesOnly: false,
    })),
  ];
}

/** Lists the source files of the program, tests left out. */
export function sourceFiles(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}

/** Reads who takes from whom among these files. */
export function readImports(files: readonly string[]): Import[] {
  return files.flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8")));
}
