import { parseUrl } from "../../lib/url.ts";
import type { YamlInput } from "./reader.ts";

const versionPattern = /\/v(\d+)$/;

/**
 * What is wrong with a policy's `_schema`; undefined when nothing is. Any URL will do whose path ends with `/v1`: the
 * version counts, not the place.
 */
export function schemaProblem(value: YamlInput): string | undefined {
  if (value === undefined) return "Field required";
  if (typeof value !== "string") return "Input should be a valid string";
  const url = parseUrl(value);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return "Input should be a valid URL";
  const version = versionPattern.exec(url.pathname)?.[1];
  if (version === undefined) return "The URL's path should end with /v1";
  return version === "1"
    ? undefined
    : `Version v${version.slice(0, 20)} is not supported; the URL's path should end with /v1`;
}
