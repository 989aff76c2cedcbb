import { z } from "zod";

import { ExactJson } from "../lib/exact-json.ts";
import type { Places } from "../lib/json.ts";

/** Schemas of exact JSON, with the schema that its content is checked against, unless only its kind is. */
const exactSchemas = new WeakMap<object, { inside: z.ZodType | undefined }>();
const unpackedSchemas = new WeakSet<object>();

/**
 * Makes a schema of JSON that is kept as it was written: it arrives as `ExactJson`. Its content has to fit the given
 * schema, whose defaults are not filled in.
 */
export function exact<S extends z.ZodType>(schema: S) {
  return kept(schema, (given) => given.value, schema);
}

/**
 * Finds the schema that the content of exact JSON is checked against; undefined for other schemas, and for opaque JSON.
 */
export function exactContent(schema: z.ZodType): z.ZodType | undefined {
  return exactSchemas.get(schema)?.inside;
}

/** Makes a schema as `exact` does; a string whose content is JSON counts as that JSON. */
export function exactUnpacked<S extends z.ZodType>(schema: S) {
  const result = exact(schema);
  unpackedSchemas.add(result);
  return result;
}

/**
 * Makes a schema as `exact` does, for JSON with any content: only whether it is an object, a list or something else is
 * checked, so its size does not matter.
 */
export function exactOpaque<S extends z.ZodType>(schema: S) {
  return kept(schema, outlineOf);
}

/** Makes a schema of exact JSON that is both unpacked and opaque. */
export function exactUnpackedOpaque<S extends z.ZodType>(schema: S) {
  const result = exactOpaque(schema);
  unpackedSchemas.add(result);
  return result;
}

function outlineOf(given: ExactJson): unknown {
  if (given.kind === "object") return {};
  return given.kind === "array" ? [] : given.value;
}

function kept<S extends z.ZodType>(schema: S, look: (given: ExactJson) => unknown, inside?: z.ZodType) {
  // Validators run one after the other: what was looked at last is what was found to fit.
  let given: ExactJson = ExactJson.ofValue(null);
  const fitting = schema.transform(() => given as ExactJson<z.output<S>>);
  // Documents would call it optional where the schema looks at its input beforehand, as lists do.
  fitting._zod.optin = undefined;
  const result = z.preprocess((value) => {
    given = value instanceof ExactJson ? value : ExactJson.ofValue(value);
    return value === undefined ? undefined : look(given);
  }, fitting);
  exactSchemas.set(result, { inside });
  return result;
}

/** Lists the schemas that a schema wraps, but not those of members and items. */
export function schemasAround(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out] as z.ZodType[];
  if (schema instanceof z.ZodUnion) return schema.options as z.ZodType[];
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  )
    return [schema.unwrap() as z.ZodType];
  return [];
}

function merged(all: readonly (Places | undefined)[]): Places | undefined {
  const found = all.filter((places) => places !== undefined);
  if (found.length < 2) return found[0];
  const whole = found.find(({ exact: kept }) => kept !== undefined);
  if (whole !== undefined) return whole;
  const names = new Set(found.flatMap(({ members }) => [...(members?.keys() ?? [])]));
  const members = new Map<string, Places>();
  for (const name of names) {
    const inside = merged(found.map((places) => places.members?.get(name)));
    if (inside !== undefined) members.set(name, inside);
  }
  const items = merged(found.map((places) => places.items));
  return { ...(members.size === 0 ? {} : { members }), ...(items === undefined ? {} : { items }) };
}

/** Finds where a schema keeps JSON as it was written; undefined for nowhere. */
export function exactPlaces(schema: z.ZodType): Places | undefined {
  if (exactSchemas.has(schema)) return { exact: unpackedSchemas.has(schema) ? "unpacked" : "written" };
  if (schema instanceof z.ZodObject) {
    const members = new Map<string, Places>();
    for (const [name, member] of Object.entries<z.ZodType>(schema.shape)) {
      const places = exactPlaces(member);
      if (places !== undefined) members.set(name, places);
    }
    return members.size === 0 ? undefined : { members };
  }
  if (schema instanceof z.ZodArray) {
    const items = exactPlaces(schema.element as z.ZodType);
    return items && { items };
  }
  return merged(schemasAround(schema).map(exactPlaces));
}
