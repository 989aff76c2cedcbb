/** Reads a link that came from outside. @returns its host, or undefined for what no page may link to. */
export function safeLink(text: string | null | undefined): { href: string; host: string } | undefined {
  if (text === null || text === undefined || !/^https?:\/\//i.test(text)) return undefined;
  try {
    const { href, host } = new URL(text);
    return { href, host };
  } catch {
    return undefined;
  }
}

/** Shortens a digest or a commit to what people compare. */
export function short(digest: string): string {
  return digest.slice(0, 7);
}

/**
 * Finds the page that an address of an answer leads to, as a path below the program's own; undefined for what is no page of it.
 * @param address absolute, with the host by which the server is known.
 * @param prefix path below which the program is reached, with a slash at both ends.
 */
export function pathOfPage(address: string | null | undefined, prefix: string): string | undefined {
  const link = safeLink(address);
  if (link === undefined) return undefined;
  const { pathname, search, hash } = new URL(link.href);
  const path = pathname.startsWith(prefix) ? `/${pathname.slice(prefix.length)}` : undefined;
  return path === undefined || path.startsWith("//") ? undefined : `${path}${search}${hash}`;
}

/** Reads a parameter of an address of an answer; undefined when it has none. */
export function parameterOf(address: string | null | undefined, name: string): string | undefined {
  const link = safeLink(address);
  return link === undefined ? undefined : (new URL(link.href).searchParams.get(name) ?? undefined);
}
