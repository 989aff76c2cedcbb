// Writes the tables of what policies and templates may hold into docs/, from the schemas that the server publishes; with
// --check fails when a page says anything else.
import { readFileSync, writeFileSync } from "node:fs";

import { environmentPolicyJsonSchema } from "../src/domain/policy/format.ts";
import { flowTemplateJsonSchema } from "../src/domain/template/format.ts";

/** As much of JSON Schema as these formats use. */
interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: string | number;
  enum?: string[];
  anyOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
}

const pages = [
  { page: "policies.md", schema: environmentPolicyJsonSchema("") as Schema },
  { page: "compliance.md", schema: flowTemplateJsonSchema("") as Schema },
];

const begin = "<!-- Made by `npm run docs:formats`. -->\n";
const end = "<!-- End of what is made. -->";

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

const kinds: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "`true` or `false`",
  array: "list",
  object: "mapping",
};

/** Characters of a pattern that still helps somebody who reads it. */
const longestPattern = 24;

/** Lists what may stand somewhere, each alternative by itself. */
function alternatives({ $ref, type, enum: values, const: only, anyOf, pattern }: Schema): string[] {
  if ($ref !== undefined) return ["mapping"];
  if (only !== undefined) return [code(only)];
  if (values !== undefined) return values.map(code);
  if (anyOf !== undefined) return anyOf.flatMap(alternatives);
  if (pattern !== undefined && pattern.length <= longestPattern) return [`text like ${code(pattern)}`];
  return [type ?? []].flat().map((each) => kinds[each] ?? each);
}

/** Says what may stand somewhere, and how long it may be. */
function kindOf(schema: Schema): string {
  const { minLength, maxLength } = schema;
  const all = alternatives(schema);
  const listed = all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
  if (maxLength === undefined) return listed;
  return `${listed}; ${minLength === undefined ? "at most" : `${minLength} to`} ${maxLength} characters`;
}

/** Finds the mapping that stands in a place, alone, in a list or as an alternative. */
function mappingIn({ $ref, items, anyOf = [] }: Schema): string | undefined {
  const refs = [$ref, items?.$ref, ...anyOf.map((option) => option.$ref)];
  return refs.find((ref) => ref !== undefined)?.replace("#/$defs/", "");
}

/** Lists the rows of a mapping and of all that is in it. A mapping that stands in two places is described in the first. */
function rowsOf({ $defs = {}, ...root }: Schema): string[] {
  const places = new Map<string, string>();

  function rowsIn({ properties = {}, required = [] }: Schema, prefix: string): string[] {
    return Object.entries(properties).flatMap(([key, schema]) => {
      const path = `${prefix}${key}`;
      const name = mappingIn(schema) ?? "";
      const { description, allOf = [] } = $defs[name] ?? {};
      const place = places.get(name);
      const told = place === undefined ? allOf.map((rule) => rule.description) : [`As in ${code(place)}.`];
      const meaning = [schema.description ?? description, ...told].join(" ");
      const ifAbsent = schema.default === undefined ? "" : code(schema.default);
      const cells = [code(path), kindOf(schema), meaning, required.includes(key) ? "required" : ifAbsent];
      const row = `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;
      if (name === "" || place !== undefined) return [row];
      places.set(name, path);
      return [row, ...rowsIn($defs[name] ?? {}, `${path}${schema.items === undefined ? "" : "[]"}.`)];
    });
  }

  return rowsIn(root, "");
}

for (const { page, schema } of pages) {
  const file = new URL(`../docs/${page}`, import.meta.url);
  const before = readFileSync(file, "utf8");
  const [from, to] = [before.indexOf(begin), before.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/${page} has no place for its table`);
  const table = ["| key | is | meaning | default |", "| --- | --- | --- | --- |", ...rowsOf(schema)].join(
    "\n",
  );
  const after = `${before.slice(0, from)}${begin}\n${table}\n\n${before.slice(to)}`;
  if (!process.argv.includes("--check")) writeFileSync(file, after);
  else if (before !== after) {
    console.error(`docs/${page} is out of date: run \`npm run docs:formats\` and read the difference`);
    process.exitCode = 1;
  }
}
