import { parseUrl } from "../lib/url.ts";

/** `user@host:path`, the short form of an SSH address. */
const scpAddress = /^(?:[^@/\s]+@)?([^:/@\s]+\.[^:/@\s]+):(?!\/\/)/;

const longestHost = 253;

/** Finds the host of a repo, from its address in any of the usual forms; null when there is none. */
export function vcsInstanceOf(url: string): string | null {
  const short = scpAddress.exec(url.slice(0, 2000))?.[1];
  const host = short ?? parseUrl(url)?.host ?? "";
  return host === "" || host.length > longestHost ? null : host.toLowerCase();
}
