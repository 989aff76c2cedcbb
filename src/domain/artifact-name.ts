/**
 * Takes the tag and the digest off the name of an image: `registry:5000/shop/web:1.2@sha256:…` becomes
 * `registry:5000/shop/web`. Other names stay. `search_base` in the database is the same.
 */
export function nameWithoutTag(name: string): string {
  return name.replace(/@[a-z0-9]+:[a-f0-9]+$/, "").replace(/:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, "");
}
