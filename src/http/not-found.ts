import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { pathOf } from "./path.ts";
import type { Pages } from "./web.ts";

/** Methods of one path, whatever stands in its places. */
interface KnownPath {
  pattern: RegExp;
  methods: Set<string>;
  /** Orders literal segments before parameters, and these before the rest of a path: as the router prefers them. */
  rank: string;
}

const lastCharacter = "\u{10FFFF}";

/** Makes the entry of a path as the router writes it, `/repos/:org/*`, with no methods yet. */
function knownPath(url: string): KnownPath {
  const escaped = url.replace(/\/$/, "").replace(/[.+?^$()|[\]\\]/g, "\\$&");
  return {
    pattern: new RegExp(`^${escaped.replace(/:\w+/g, "[^/]+").replace(/\*/g, ".+")}/?$`),
    methods: new Set(),
    rank: url.replace(/\*/g, lastCharacter).replace(/:\w+/g, "~"),
  };
}

/** Gathers the routes that are added from now on. */
function gatherPaths(app: FastifyInstance): () => KnownPath[] {
  const known = new Map<string, KnownPath>();
  app.addHook("onRoute", ({ url, method }) => {
    const path = known.get(url) ?? knownPath(url);
    known.set(url, path);
    for (const one of [method].flat()) if (one !== "HEAD") path.methods.add(one);
  });
  return () => [...known.values()].sort((a, b) => (a.rank < b.rank ? -1 : 1));
}

/**
 * Answers what no route matches: browsers that ask for a page with one, everything else with 405 with `Allow` when the path exists with other methods, else 404, in JSON
 * (RFC 9110 section 15.5.6), and before any body is read. `Allow` names the methods of the most specific path that fits:
 * `/repos/acme/tags` is that one, and no repo. To be called before routes are added.
 */
export function registerNotFound(app: FastifyInstance, pages: Pages): void {
  const gathered = gatherPaths(app);
  let known: KnownPath[] | undefined;
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    known ??= gathered();
    const path = pathOf(request).replace(/\/{2,}/g, "/");
    const found = known.find(({ pattern }) => pattern.test(path));
    const page = found === undefined ? pages.answer(request, reply) : undefined;
    if (page !== undefined) return page;
    if (found !== undefined) reply.header("allow", [...found.methods].sort().join(", "));
    return reply
      .code(found === undefined ? 404 : 405)
      .type("application/json; charset=utf-8")
      .send(JSON.stringify({ message: found === undefined ? "Not found" : "Method not allowed" }));
  };
  app.addHook("onRequest", async (request, reply) => (request.is404 ? answer(request, reply) : undefined));
  app.setNotFoundHandler(answer);
}
