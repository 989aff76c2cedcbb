import { z } from "zod";

import { ExactJson } from "../lib/exact-json.ts";
import type { Places } from "../lib/json.ts";

/** With the schema that what is said has to fit, unless only its kind is looked at. */
const exactSchemas = new WeakMap<object, { inside: z.ZodType | undefined }>();
const unpackedSchemas = new WeakSet<object>();

/**
 * JSON that is kept as it was written: bodies are read so that it comes as `ExactJson`. It has to fit the schema, as far
 * as a program's own values can tell; what it leaves out stays left out.
 */
export function exact<S extends z.ZodType>(schema: S) {
  return kept(schema, (given) => given.value, schema);
}

/** The schema that JSON kept as it was written has to fit all through; undefined for others. */
export function insideExact(schema: z.ZodType): z.ZodType | undefined {
  return exactSchemas.get(schema)?.inside;
}

/** The same, where JSON given as text is taken for what the text says. Text that is not JSON stays text. */
export function exactUnpacked<S extends z.ZodType>(schema: S) {
  const result = exact(schema);
  unpackedSchemas.add(result);
  return result;
}

/** The same for JSON that may say anything inside: no more than its kind is looked at, so its size does not matter. */
export function exactWhole<S extends z.ZodType>(schema: S) {
  return kept(schema, outlineOf);
}

/** Both. */
export function exactUnpackedWhole<S extends z.ZodType>(schema: S) {
  const result = exactWhole(schema);
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

/** The schemas directly inside of one, but for those of members and items. */
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
  for (const name of names) members.set(name, merged(found.map((places) => places.members?.get(name)))!);
  const items = merged(found.map((places) => places.items));
  return { ...(members.size === 0 ? {} : { members }), ...(items === undefined ? {} : { items }) };
}

/** Where a schema keeps JSON as it was written; undefined when it does nowhere. */
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
