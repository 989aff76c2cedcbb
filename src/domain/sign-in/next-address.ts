/** Longest address that is gone on to. */
const longestNext = 1024;

/**
 * Gives where to go on after signing in: a path of this site, and `/` for anything that a browser could take for another one.
 * Browsers take `\` for `/` and leave out tabs and line breaks, so that neither may be in it.
 */
export function safeNext(next: unknown): string {
  if (typeof next !== "string" || next.length > longestNext) return "/";
  return /^\/(?!\/)[!-~]*$/.test(next) && !next.includes("\\") ? next : "/";
}
