import type { Parts } from "./client.ts";

/** The body that posts a type: its data, and its schema as a file. */
export function partsOf(data: unknown, schema?: unknown): Parts {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  return {
    data_json: JSON.stringify(data),
    ...(schema === undefined ? {} : { type_schema: { filename: "schema.json", content: text } }),
  };
}

/** An evaluator of these rules. */
export function jq(...rules: string[]) {
  return { content_type: "jq", rules };
}
