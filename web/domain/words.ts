/** Writes what the API calls a thing as words, for what has no words of its own: `search_words` becomes `Search words`. */
export function plainWords(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
