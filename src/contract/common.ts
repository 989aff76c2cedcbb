import { z } from "zod";

import { maxNameLength } from "../domain/names.ts";
import { notAnInteger } from "./input-errors.ts";

/** Every error body: a sentence, and for failed validations what is wrong where (architecture 5, contract 1.4). */
export const ErrorBody = z
  .object({ message: z.string(), errors: z.record(z.string(), z.string()).optional() })
  .meta({ id: "Error" });

/** Unix seconds with a fraction. */
export const Timestamp = z.number();

/** `{rel: {href}}`, absolute URLs. */
export const LinksBody = z.record(z.string(), z.object({ href: z.string() })).meta({ id: "Links" });

/** The body of writes whose outcome the status tells. */
export const Ok = z.literal("OK");

/** A whole number in a body. Without its own text, what is no number at all would be called a bad number. */
export function integer() {
  return z.int({ error: ({ code }) => (code === "invalid_type" ? notAnInteger : undefined) });
}

/** A name a database index has to hold. */
export function indexedText() {
  return z.string().max(maxNameLength);
}

/** A name with a pattern of `domain/names`. */
export function nameText(pattern: RegExp) {
  return indexedText().regex(pattern);
}

/** A response body shown in OpenAPI under its component name. */
export function json<S extends z.ZodType>(description: string, schema: S) {
  return { description, schema };
}

/** 200 with the text `"OK"`. */
export const okResponse = { description: "Done", schema: Ok } as const;
