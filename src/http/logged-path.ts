import type { FastifyRequest } from "fastify";

import { endpoints } from "../contract/index.ts";
import { apiPrefix, routeUrl } from "./mount.ts";
import { pathOf } from "./path.ts";

/** Where what only its callers know begins in a path, and what the log shows instead of it and the rest. */
const secretPaths = Object.values(endpoints)
  .filter(({ access }) => access.kind === "signature")
  .map(({ path }) => ({ beginning: apiPrefix + path.slice(0, path.indexOf("{")), shown: routeUrl(path) }));

/** Reads a path as forgivingly as callers write it wrongly: what the router refuses goes to the log, too. */
function plain(path: string): string {
  return path
    .replace(/%([0-7][0-9a-f])/gi, (_encoded, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\/{2,}/g, "/")
    .toLowerCase();
}

/**
 * Reads the path of a request as it may be logged: without what only its callers know, whatever the method is, what stands before it or
 * comes after it, and whether the server answers there at all.
 */
export function loggedPath(request: FastifyRequest): string {
  const path = pathOf(request);
  const read = plain(path);
  return secretPaths.find(({ beginning }) => read.includes(beginning))?.shown ?? path;
}
