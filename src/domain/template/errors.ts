import { FormatError, type FormatIssue, showPath } from "../../lib/yaml-format.ts";

/** A text that is no flow template, with everything that is wrong with it, up to a limit. */
export class TemplateError extends FormatError {
  constructor(issues: readonly FormatIssue[]) {
    super("Not a flow template", issues);
    this.name = "TemplateError";
  }
}

/**
 * Tells all mistakes in one text: how many, then for each the place and the reason. Every alternative that does not fit
 * counts as a mistake. The heading says "errors" whatever the number, because that is what clients look for.
 */
export function describeIssues(issues: readonly FormatIssue[]): string {
  const lines = issues.flatMap(({ path, reasons }) =>
    reasons.map((reason) => `${showPath(path) || "(root)"}\n  ${reason}`),
  );
  return `${lines.length} validation errors for Template\n${lines.join("\n")}`;
}
