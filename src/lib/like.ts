/** A LIKE pattern for texts that contain this one, whatever wildcards it has. Compare it with lower-case text. */
export function containsPattern(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
}
