import { z } from "zod";

import { extraInput, withInput } from "./safe-parse.ts";

type Issue = z.core.$ZodIssue;

const mask = "***";

/** The stand-in of a hidden value that is no text, so that error texts do not treat it as one. */
export const hiddenValue = Symbol(mask);

/** Most unknown keys that are reported. */
const mostKeys = 100;

/**
 * Rewrites the issue of a union: a wrong discriminator is reported like any wrong word, and of other unions'
 * alternatives nothing is revealed.
 */
function explainUnion(issue: Issue & { code: "invalid_union" }): object {
  if (issue.discriminator === undefined) return { ...issue, errors: [], input: mask };
  const holder = issue.input as Record<string, unknown> | undefined;
  const input = holder?.[issue.discriminator];
  const { path } = issue;
  if (input === undefined) return { code: "invalid_type", expected: "string", path, input };
  return { code: "invalid_value", values: "options" in issue ? issue.options : [], path, input };
}

function hidden(issue: Issue, shown: readonly string[]): object[] {
  if (issue.code === "invalid_union") return [explainUnion(issue)];
  // One of its own for each key: an issue about keys alone would not keep the schema from running again.
  if (issue.code === "unrecognized_keys")
    return issue.keys.slice(0, mostKeys).map((key) => ({
      code: "custom",
      message: extraInput,
      path: [...issue.path, key],
      input: mask,
    }));
  const isShown = issue.path.some((part) => shown.includes(String(part)));
  if (issue.input === undefined || isShown) return [issue];
  return [{ ...issue, input: typeof issue.input === "string" ? mask : hiddenValue }];
}

/**
 * Makes a schema for input that holds secrets: its error texts, which end up in clients' logs, do not quote the input.
 * @param shown names of the fields below which quoting is harmless. Discriminators always are.
 */
export function hidingInput<S extends z.ZodType>(schema: S, shown: readonly string[]) {
  return z.preprocess((value, context) => {
    const parsed = schema.safeParse(value, withInput);
    if (parsed.success) return value;
    for (const issue of parsed.error.issues)
      for (const raw of hidden(issue, shown)) context.issues.push(raw as z.core.$ZodRawIssue);
    return z.NEVER;
  }, schema);
}
