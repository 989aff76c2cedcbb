import { z } from "zod";

import {
  fingerprintPrefixPattern,
  flowNamePattern,
  maxNameLength,
  trailNamePattern,
} from "../domain/names.ts";
import { notAnInteger } from "./input-errors.ts";

/**
 * The body of every error: a sentence, for failed validations what is wrong where (contract 1.4), and a reason for programs where there
 * is something to do about it: `insufficient_user_authentication` asks the person to sign in again (the term of RFC 9470).
 */
export const ErrorBody = z
  .object({
    message: z.string(),
    errors: z.record(z.string(), z.string()).optional(),
    reason: z.string().optional(),
  })
  .meta({ id: "Error" });

/** Unix seconds with a fraction. */
export const Timestamp = z.number();

/** `{rel: {href}}`, absolute URLs. */
export const LinksBody = z.record(z.string(), z.object({ href: z.string() })).meta({ id: "Links" });

/** The body of writes whose outcome is told by the status alone. */
export const Ok = z.literal("OK");

/** Makes a schema of a whole number in a body, with its own error for what is no number at all. */
export function integer() {
  return z.int({ error: ({ code }) => (code === "invalid_type" ? notAnInteger : undefined) });
}

/** Makes a schema of a text that a database index has to hold. */
export function indexedText() {
  return z.string().max(maxNameLength);
}

/** Makes a schema of a name, with a pattern of `domain/names`. */
export function nameText(pattern: RegExp) {
  return indexedText().regex(pattern);
}

/** `{flow_name}` of a path that may make the flow. Names in other paths are looked up as they are. */
export const flowParams = z.object({ flow_name: nameText(flowNamePattern) });

/** `{flow_name}` and `{trail_name}` of a path that may make both. */
export const trailParams = flowParams.extend({ trail_name: nameText(trailNamePattern) });

/** `{fingerprint}` of a path: the beginning of one is enough. */
export const fingerprintParams = z.object({ fingerprint: z.string().regex(fingerprintPrefixPattern) });

/** Declares a response with a JSON body. */
export function json<S extends z.ZodType>(description: string, schema: S) {
  return { description, schema };
}

/** A form part with a file of text. Files over 10 MB are refused with 413. */
export const textFile = { maxBytes: 10 * 1024 * 1024, tooLarge: "File size exceeds 10MB limit" };

/** A response with the text `"OK"`. */
export const okResponse = { description: "Done", schema: Ok } as const;
