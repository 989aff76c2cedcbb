import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Lists what the web app does to things, by the operations it names. */
export function operationsOfPages(): string[] {
  const web = join(import.meta.dirname, "..", "..", "web");
  const files = ["pages", "parts", "shell"].flatMap((folder) =>
    readdirSync(join(web, folder), { recursive: true, encoding: "utf8" }).map((name) =>
      join(web, folder, name),
    ),
  );
  const texts = files.filter((name) => /\.tsx?$/.test(name)).map((name) => readFileSync(name, "utf8"));
  const named = texts.flatMap((text) => [
    ...Array.from(text.matchAll(/"((?:PUT|POST|PATCH|DELETE) \/[^"]+)"/g), ([, operation]) => operation!),
    ...Array.from(text.matchAll(/useRefusal\(\s*\w+,\s*"(GET \/[^"]+)"/g), ([, operation]) => operation!),
  ]);
  return [...new Set(named)].toSorted();
}
