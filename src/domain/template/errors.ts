/** One mistake in a template. */
export interface TemplateIssue {
  /** Keys and indexes from the root; empty for the text as a whole. */
  path: readonly (string | number)[];
  /** What would have been right. Several when there are alternatives and none of them fits. */
  reasons: readonly [string, ...string[]];
  /** What stands there instead; undefined when nothing does. */
  input: unknown;
}

/** A text that is no flow template, with everything that is wrong with it, up to a limit. */
export class TemplateError extends Error {
  readonly issues: readonly TemplateIssue[];
  constructor(issues: readonly TemplateIssue[]) {
    super("Not a flow template");
    this.name = "TemplateError";
    this.issues = issues;
  }
}

/** `trail.artifacts[0].name`; empty for the root. */
export function issueLocation(path: TemplateIssue["path"]): string {
  return path.reduce<string>((location, part) => {
    if (typeof part === "number") return `${location}[${part}]`;
    return location === "" ? part : `${location}.${part}`;
  }, "");
}

/**
 * All mistakes as one text: how many, then for each the place and the reason. Every alternative that does not fit counts
 * as a mistake. The heading says "errors" whatever the number, because that is what clients look for.
 */
export function describeIssues(issues: readonly TemplateIssue[]): string {
  const lines = issues.flatMap(({ path, reasons }) =>
    reasons.map((reason) => `${issueLocation(path) || "(root)"}\n  ${reason}`),
  );
  return `${lines.length} validation errors for Template\n${lines.join("\n")}`;
}
