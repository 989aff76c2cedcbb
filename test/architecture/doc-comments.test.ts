import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { root, sourceFiles } from "./imports.ts";

/** An exported function with a name in small letters, with the comment before it. What begins with a capital is a part of a page. */
const functions =
  /(?:^\/\*\*(?<doc>(?:(?!\*\/).)*)\*\/\n)?^export (?:(?:async )?function\*? (?<name>[a-z]\w*)|const (?<arrow>[a-z]\w*)(?::[^=\n]+)? = (?:async )?(?:\w+|\((?:[^()]|\([^()]*\))*\)(?:: [^=\n]+)?) =>)/gms;

/** A verb in the third person, and a word after it. */
const verbFirst = /^(?!(?:As|Its|This) )[A-Z][a-z]+s,? /;

/** Lists the exported functions of a text, the first one of each name, with what their comments say. */
function documented(text: string): { name: string; doc: string }[] {
  const found = Array.from(text.matchAll(functions), ({ groups }) => ({
    name: groups?.["name"] ?? groups?.["arrow"] ?? "",
    doc: (groups?.["doc"] ?? "").replace(/^\s*\*?\s*/gm, " ").trim(),
  }));
  return found.filter((one, at) => found.findIndex(({ name }) => name === one.name) === at);
}

/** Lists the exported functions of a text whose comments do not say what they do. */
function undocumented(text: string): string[] {
  return documented(text).flatMap(({ name, doc }) => (verbFirst.test(doc) ? [] : [name]));
}

test("comments of exported functions begin with a verb", () => {
  const texts = sourceFiles(["src", "demo", "web", "bench", "attack"]).map((file) => ({
    file,
    text: readFileSync(join(root, file), "utf8"),
  }));
  expect(texts.flatMap(({ text }) => documented(text)).length).toBeGreaterThan(2500);
  expect(texts.flatMap(({ file, text }) => undocumented(text).map((name) => `${file}: ${name}`))).toEqual([]);
});

test.each([
  ["export function naked(): void {}", ["naked"]],
  ["/** The size of it. */\nexport function sizeOf(): number {}", ["sizeOf"]],
  ["/** Whether it is. */\nexport const isIt = (text: string): boolean => text === '';", ["isIt"]],
  ["/**\n * This has lines.\n * Two.\n */\nexport async function* lines() {}", ["lines"]],
  ["export const one = (of: () => void) => of();\nexport const two = async one => one;", ["one", "two"]],
  ["/**\n * Counts what there is.\n * All.\n */\nexport async function count() {}", []],
  ["/** Reads it. */\nexport function read(a: 1): 1;\nexport function read(a: 2): 2;", []],
  ["/** The size. */\nexport const size = (1 + 2) * 3;\n/** A button. */\nexport function Button() {}", []],
])("of %j these lack one: %j", (text, lacking) => {
  expect(undocumented(text)).toEqual(lacking);
});
