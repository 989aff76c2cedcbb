import { parseUrl } from "../../lib/url.ts";
import { isPublicHost } from "./reach.ts";

const absoluteHttp = /^https?:\/\/[^/?#\\]/i;

function hasUnsafeCharacter(text: string): boolean {
  // The URL parser drops or rewrites these silently: what is checked would not be what was written.
  // oxlint-disable-next-line no-control-regex
  return /[\s\u0000-\u001f\u007f\\]/.test(text);
}

/**
 * Says what is wrong with the address of an outgoing webhook; undefined when it may be stored. Names are not resolved.
 * @param allowPrivate lets it point into the operator's own network.
 */
export function targetUrlProblem(text: string, allowPrivate: boolean): string | undefined {
  const url = absoluteHttp.test(text) && !hasUnsafeCharacter(text) ? parseUrl(text) : undefined;
  if (url === undefined) return "Input should be a valid URL starting with http:// or https://";
  if (url.username !== "" || url.password !== "") return "URL should not contain credentials";
  if (!allowPrivate && !isPublicHost(url.hostname)) return "URL should not lead to a private network";
  return undefined;
}

/** Gives as much of a secret URL as error texts may show: scheme and host. */
export function maskUrl(text: string): string {
  const url = absoluteHttp.test(text) ? parseUrl(text) : undefined;
  return url === undefined ? "***" : `${url.protocol}//${url.host}/***`;
}
