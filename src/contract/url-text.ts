import { z } from "zod";

import { parseUrl } from "../lib/url.ts";

/** Longest URL that is read: longer than any program makes one. */
const maxLength = 65_536;

/** Schemes whose URLs have a host. */
const withHost = /^(?:https?|wss?|ftp):[\\/]*([^\\/?#]*)/i;

const scheme = /^[\s\0]*[a-z][a-z0-9+.-]*:/i;

/** Says what is wrong with a host and its port, behind a user name. */
function hostProblem(authority: string): string {
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const [, host = "", port] = /^(\[[^\]]*\]?|[^:]*)(?::(.*))?$/s.exec(place) ?? [];
  if (host === "") return "empty host";
  if (port !== undefined && !(/^\d*$/.test(port) && Number(port) <= 65_535)) return "invalid port number";
  if (host.startsWith("[")) return "invalid IPv6 address";
  return /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i.test(host)
    ? "invalid IPv4 address"
    : "invalid international domain name";
}

/** Says why a text is no URL, in the words of the public interface; undefined for a URL. */
export function urlProblem(text: string): string | undefined {
  if (text.length > maxLength) return `URL should have at most ${maxLength} characters`;
  if (parseUrl(text) !== undefined) return undefined;
  if (text === "") return "Input should be a valid URL, input is empty";
  if (!scheme.test(text)) return "Input should be a valid URL, relative URL without a base";
  const authority = withHost.exec(text.trim())?.[1] ?? /:\/\/([^\\/?#]*)/.exec(text)?.[1] ?? "";
  return `Input should be a valid URL, ${hostProblem(authority)}`;
}

/** Makes a schema of a URL of any scheme, kept as it is written. */
export function urlText() {
  return z
    .string()
    .check((context) => {
      const problem = urlProblem(context.value);
      if (problem !== undefined)
        context.issues.push({ code: "custom", message: problem, input: context.value });
    })
    .meta({ format: "uri" });
}
