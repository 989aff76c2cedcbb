import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

function resolve(value: unknown, definitions: JsonSchema, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, definitions, depth));
  if (typeof value !== "object" || value === null) return value;
  const { $ref: ref, ...rest } = value as JsonSchema;
  if (typeof ref === "string") {
    const target = depth > 8 ? {} : definitions[ref.replace("#/$defs/", "")];
    return resolve({ ...(target as JsonSchema), ...rest }, definitions, depth + 1);
  }
  return Object.fromEntries(
    Object.entries(rest).map(([key, item]) => [key, resolve(item, definitions, depth)]),
  );
}

/** The JSON Schema of what a schema takes in, with every reference replaced by what it refers to. */
export function inputJsonSchema(schema: z.ZodType): JsonSchema {
  const { $defs: definitions, ...root } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return resolve(root, definitions ?? {}, 0) as JsonSchema;
}
