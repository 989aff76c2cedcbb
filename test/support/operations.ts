import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";

interface Pattern {
  id: string;
  method: string;
  pattern: RegExp;
  /** Sorts literal segments before parameters and parameters before the rest of a path. */
  rank: string;
}

const patterns: Pattern[] = Object.entries(endpoints as Record<string, Endpoint>)
  .map(([id, { method, path }]) => ({
    id,
    method,
    pattern: new RegExp(`^/api/v2${path.replace(/\{\w+\.\.\.\}/, ".+").replace(/\{\w+\}/g, "[^/]+")}/?$`),
    rank: path.replace(/\{\w+\.\.\.\}/, "~~").replace(/\{\w+\}/g, "~"),
  }))
  .sort((a, b) => (a.rank < b.rank ? -1 : 1));

/** The operation a request is routed to. */
export function findOperation(method: string, url: string): string | undefined {
  const path = url.split("?", 1)[0]!;
  return patterns.find((entry) => entry.method === method && entry.pattern.test(path))?.id;
}

/** An endpoint's path with an organization and a plausible value in every other place. */
export function fillPath(path: string, org: string, value = "x1"): string {
  return path.replace("{org}", org).replace(/\{\w+(?:\.\.\.)?\}/g, value);
}

/** What proves that a page of the server asks, for endpoints that want it. */
export function proofFor({ access }: Endpoint): Record<string, string> {
  return access.kind === "site" ? { "sec-fetch-site": "same-origin" } : {};
}
