const opening = "${{";
const closing = "}}";

/** The text between `${{` and `}}`, or the text itself when it has neither, without blanks around it. */
export function unwrapExpression(text: string): string {
  const trimmed = text.trim();
  const wrapped = trimmed.startsWith(opening) && trimmed.endsWith(closing);
  return wrapped ? trimmed.slice(opening.length, -closing.length).trim() : trimmed;
}
