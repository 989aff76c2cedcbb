import type { PageNumbers } from "./paging.ts";

/** A hypertext link as replies carry it. */
export interface Link {
  href: string;
}

/** Builds absolute URLs from the address users reach the server at. */
export interface Links {
  /** Writes the URL of a resource below `/api/v2`: `links.api("/environments/acme")`. */
  api(path: string): string;
  /** Writes the URL of a page for people: `links.web("/acme/flows/web-ci")`. */
  web(path: string): string;
}

/**
 * Makes what builds URLs.
 * @param publicUrl the public base URL, with or without a path prefix, without a trailing slash.
 */
export function createLinks(publicUrl: string): Links {
  return {
    api: (path) => `${publicUrl}/api/v2${path}`,
    web: (path) => `${publicUrl}${path}`,
  };
}

/**
 * Builds `_links` of one page of a list: `self`, `first`, `last`, and `prev` and `next` where they exist. Each repeats the
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

/** What a page of a list says beside its items; `page` is the one asked for, even past the end. */
interface PageHead extends PageNumbers {
  _links: Record<string, Link>;
  total_pages: number;
  total_count: number;
}

/**
 * Builds the head of one page of a list.
 * @param url the list's absolute URL as requested, query included.
 */
export function pageHead(url: string, { page, per_page }: PageNumbers, total_count: number): PageHead {
  const total_pages = Math.ceil(total_count / per_page);
  return { _links: pageLinks(url, page, total_pages), page, per_page, total_pages, total_count };
}

/**
 * Says where one page of a bare list stands, as headers: `X-Total-Count` and its kin, and `Link` (RFC 8288) when there is
 * more than one page. Addresses as `pageLinks` makes them.
 */
export function pageHeaders(
  url: string,
  { page, per_page }: PageNumbers,
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
