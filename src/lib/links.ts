/** A hypertext link as replies carry it. */
export interface Link {
  href: string;
}

/** Builds absolute URLs from the address users reach the server at. */
export interface Links {
  /** `links.api("/environments/acme")` is the URL of that resource below `/api/v2`. */
  api(path: string): string;
  /** `links.web("/acme/flows/web-ci")` is the URL of a page for people. */
  web(path: string): string;
}

/** @param publicUrl the public base URL, with or without a path prefix, without a trailing slash. */
export function createLinks(publicUrl: string): Links {
  return {
    api: (path) => `${publicUrl}/api/v2${path}`,
    web: (path) => `${publicUrl}${path}`,
  };
}

/**
 * `_links` of one page of a list: `self`, `first`, `last`, and `prev` and `next` where they exist. Each repeats the
 * query the list was asked with, with its own page number.
 * @param url the list's absolute URL as requested, query included.
 */
export function pageLinks(url: string, page: number, totalPages: number): Record<string, Link> {
  const target = new URL(url);
  target.searchParams.set("page", "1");
  // There is one parameter of that name now, and a number needs no escapes.
  const [before = "", after = ""] = target.href.split(/(?<=[?&]page=)1(?=&|#|$)/);
  const link = (number: number): Link => ({ href: before + number + after });
  const last = Math.max(totalPages, 1);
  return {
    self: { href: url },
    first: link(1),
    last: link(last),
    ...(page > 1 ? { prev: link(Math.min(page - 1, last)) } : {}),
    ...(page < last ? { next: link(page + 1) } : {}),
  };
}

/** What a page of a list says beside its items. */
export interface PageHead {
  _links: Record<string, Link>;
  /** The one asked for, even past the end. */
  page: number;
  per_page: number;
  total_pages: number;
  total_count: number;
}

/**
 * The head of one page of a list.
 * @param url the list's absolute URL as requested, query included.
 */
export function pageHead(
  url: string,
  { page, per_page }: { page: number; per_page: number },
  total_count: number,
): PageHead {
  const total_pages = Math.ceil(total_count / per_page);
  return { _links: pageLinks(url, page, total_pages), page, per_page, total_pages, total_count };
}

/**
 * Where one page of a bare list stands, as headers: `X-Total-Count` and its kin, and `Link` (RFC 8288) when there is more
 * than one page. Addresses as `pageLinks` makes them.
 */
export function pageHeaders(
  url: string,
  { page, per_page }: { page: number; per_page: number },
  total: number,
): Record<string, string> {
  const pages = Math.ceil(total / per_page);
  const links = pageLinks(url, page, pages);
  const link = ["first", "prev", "next", "last"].flatMap((rel) => {
    const target = links[rel];
    return target === undefined ? [] : `<${target.href}>; rel="${rel}"`;
  });
  return {
    "x-total-count": String(total),
    "x-per-page": String(per_page),
    "x-current-page": String(page),
    "x-total-pages": String(pages),
    ...(pages > 1 ? { link: link.join(", ") } : {}),
  };
}
