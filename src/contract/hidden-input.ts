import { z } from "zod";

type Issue = z.core.$ZodIssue;

const mask = "***";

/** Stands for a hidden value that is no text, so that nothing is said of it as if it were one. */
export const hiddenValue = Symbol(mask);

/** Unknown keys told of at most. */
const mostKeys = 100;

/** A discriminator that is missing or wrong, said like any other word; of other unions' alternatives nothing is told. */
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
      message: "Extra inputs are not permitted",
      path: [...issue.path, key],
      input: mask,
    }));
  const isShown = issue.path.some((part) => shown.includes(String(part)));
  if (issue.input === undefined || isShown) return [issue];
  return [{ ...issue, input: typeof issue.input === "string" ? mask : hiddenValue }];
}

/**
 * A schema for input that holds secrets: error texts, which end up in clients' logs, quote nothing of it.
 * @param shown names of the fields below which quoting is harmless. Discriminators always are.
 */
export function hidingInput<S extends z.ZodType>(schema: S, shown: readonly string[]) {
  return z.preprocess((value, context) => {
    const parsed = schema.safeParse(value, { reportInput: true });
    if (parsed.success) return value;
    for (const issue of parsed.error.issues)
      for (const raw of hidden(issue, shown)) context.issues.push(raw as z.core.$ZodRawIssue);
    return z.NEVER;
  }, schema);
}
