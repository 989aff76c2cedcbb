/**
 * Remembers the text of each name, because a connection that has prepared one refuses any other text under its name.
 * @param onVarying called with the name of a statement that has another text than the first time. When it throws, so
 * does the query; otherwise the statement runs without being prepared: slower, but it runs.
 */
export function createStatementBook(onVarying: (name: string) => void) {
  const texts = new Map<string, string>();
  /** Finds the name to prepare a statement under; undefined for one that is not to be prepared. */
  return (name: string, text: string): string | undefined => {
    const known = texts.get(name);
    if (known === text) return name;
    if (known === undefined) {
      texts.set(name, text);
      return name;
    }
    onVarying(name);
    return undefined;
  };
}
