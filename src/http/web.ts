import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { pathOf } from "./path.ts";

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** A file of the web app in the forms that clients may accept; all of it is in memory. */
interface Asset {
  type: string;
  plain: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

/** The built web app. */
export interface WebFiles {
  /** The page that all addresses get, as it was built. */
  shell: string;
  assets: ReadonlyMap<string, Asset>;
  /** Addresses that have a page: `$name` stands for one segment, a `$` alone for the rest. */
  pages: readonly string[];
}

const optional = (path: string): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);

/** Reads the built web app from its folder; undefined when it was not built. */
export function readWebFiles(folder: string): WebFiles | undefined {
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const assetFolder = join(folder, "-", "assets");
  const names = readdirSync(assetFolder).filter((name) => mediaTypes[extname(name)] !== undefined);
  const assets = names.map((name): [string, Asset] => {
    const path = join(assetFolder, name);
    const type = mediaTypes[extname(name)] ?? "application/octet-stream";
    return [
      name,
      { type, plain: readFileSync(path), br: optional(`${path}.br`), gzip: optional(`${path}.gz`) },
    ];
  });
  return {
    shell: readFileSync(join(folder, "index.html"), "utf8"),
    assets: new Map(assets),
    pages: JSON.parse(readFileSync(join(folder, "routes.json"), "utf8")) as string[],
  };
}

function patternOf(page: string): string {
  const segments = page
    .split("/")
    .slice(1)
    .map((segment) => (segment === "$" ? ".+" : segment.startsWith("$") ? "[^/]+" : segment));
  return `/${segments.join("/")}`;
}

/** Makes the test whether a path has a page. Organizations do not begin with `-`, which is ours. */
function pageTest(pages: readonly string[]): (path: string) => boolean {
  const own = new Set(pages.filter((page) => !page.startsWith("/$")));
  const patterns = pages.filter((page) => page.startsWith("/$")).map(patternOf);
  const inOrganizations = new RegExp(`^(?:${patterns.join("|")})$`);
  return (path) => own.has(path) || (!path.startsWith("/-/") && inOrganizations.test(path));
}

/** Lets the page load its own files and nothing else (W3C Content Security Policy level 3). */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}

const themePattern = /(?:^|;\s*)waybill-theme=(light|dark)(?:;|$)/;

/** Reads the theme that a browser was told to use; undefined for that of its system. */
export function themeOf({ headers }: FastifyRequest): string | undefined {
  return themePattern.exec(headers.cookie ?? "")?.[1];
}

const withoutWebApp = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Waybill</title></head>
<body><h1>Waybill is running</h1><p>Its web app was not built, or is switched off. The API is described <a href="api/v2/doc/">here</a>.</p></body></html>
`;

export interface WebOptions {
  /** Undefined when there is no web app to serve. */
  files: WebFiles | undefined;
  /** Path prefix of the public URL; empty when it has none. */
  prefix: string;
}

/** Answers requests for pages, which are those of browsers for addresses that nothing else has. */
export interface Pages {
  /** Answers if it is for a page; undefined for what others have to answer. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
}

function isForPages(request: FastifyRequest, path: string): boolean {
  return (
    (request.method === "GET" || request.method === "HEAD") &&
    /\btext\/html\b/.test(request.headers.accept ?? "") &&
    path !== "/api" &&
    !path.startsWith("/api/")
  );
}

/** Makes what answers for pages: the shell, which finds out in the browser what its address shows. */
export function createPages({ files, prefix }: WebOptions): Pages {
  const hasPage = pageTest(files?.pages ?? []);
  const shellOf = (theme: string | undefined, nonce: string): string =>
    (files?.shell ?? "")
      .replace('<meta name="waybill-path" content="/"', `<meta name="waybill-path" content="${prefix}/"`)
      .replaceAll(/(href|src)="\.\//g, `$1="${prefix}/`)
      .replace("<head>", `<head>\n    <meta name="csp-nonce" nonce="${nonce}" />`)
      .replace(
        '<html lang="en">',
        theme === undefined ? '<html lang="en">' : `<html lang="en" data-theme="${theme}">`,
      );
  return {
    answer: (request, reply) => {
      const path = pathOf(request).replace(/(?<=.)\/$/, "");
      if (!isForPages(request, path)) return undefined;
      if (files === undefined)
        return path === "/" ? reply.type("text/html; charset=utf-8").send(withoutWebApp) : undefined;
      const nonce = randomBytes(16).toString("base64");
      return reply
        .code(hasPage(path) ? 200 : 404)
        .headers({
          "cache-control": "no-cache",
          "content-security-policy": contentSecurityPolicy(nonce),
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
          "referrer-policy": "same-origin",
          vary: "Accept, Cookie",
        })
        .type("text/html; charset=utf-8")
        .send(shellOf(themeOf(request), nonce));
    },
  };
}

const accepts = (request: FastifyRequest, encoding: string): boolean =>
  new RegExp(`\\b${encoding}\\b(?!;q=0(?:\\.0*)?(?:,|$))`).test(request.headers["accept-encoding"] ?? "");

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  reply
    .type(asset.type)
    .headers({ "cache-control": "public, max-age=31536000, immutable", vary: "Accept-Encoding" });
  if (asset.br !== undefined && accepts(request, "br"))
    return reply.header("content-encoding", "br").send(asset.br);
  if (asset.gzip !== undefined && accepts(request, "gzip"))
    return reply.header("content-encoding", "gzip").send(asset.gzip);
  return reply.send(asset.plain);
}

/** Serves the files of the web app, whose names change with what is in them. */
export function registerWebAssets(app: FastifyInstance, files: WebFiles | undefined): void {
  for (const [name, asset] of files?.assets ?? [])
    app.get(`/-/assets/${name}`, async (request, reply) => sendAsset(request, reply, asset));
  app.get("/robots.txt", async (_request, reply) =>
    reply.type("text/plain; charset=utf-8").send("User-agent: *\nDisallow: /\n"),
  );
}
