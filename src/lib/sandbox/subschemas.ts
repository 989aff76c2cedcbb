import { isJsonObject } from "../json-object.ts";

type Json = Record<string, unknown>;

/** A schema within a schema, with the JSON pointer (RFC 6901) to it. */
export interface Subschema {
  path: string;
  schema: Json;
}

/** Keywords whose value is data, whatever it looks like. */
const dataKeywords = new Set(["const", "enum", "default", "examples"]);

/** Keywords whose value holds schemas by names that are no keywords. */
const mapKeywords = new Set([
  "properties",
  "patternProperties",
  "definitions",
  "$defs",
  "dependencies",
  "dependentSchemas",
]);

/** Writes one step of a JSON pointer. */
export function pointerStep(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Lists the schema itself and every schema in it, under unknown keywords too. */
export function* subschemas(schema: Json, path = ""): Generator<Subschema> {
  yield { path, schema };
  for (const [key, value] of Object.entries(schema)) {
    if (dataKeywords.has(key)) continue;
    const here = path + pointerStep(key);
    if (isJsonObject(value) && !mapKeywords.has(key)) yield* subschemas(value, here);
    else if (typeof value === "object" && value !== null)
      for (const [step, item] of Object.entries(value))
        if (isJsonObject(item)) yield* subschemas(item, here + pointerStep(step));
  }
}
