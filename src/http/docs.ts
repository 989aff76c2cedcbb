import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import type { FastifyInstance } from "fastify";

import type { Endpoints } from "../contract/endpoint.ts";
import { openApiDocument } from "../contract/openapi.ts";
import { apiPrefix } from "./mount.ts";
import { pathOf } from "./path.ts";

const assetFolder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

const assets: Record<string, string> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waybill API</title>
<link rel="stylesheet" href="./swagger-ui.css">
<link rel="icon" type="image/png" href="./favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="./swagger-ui-bundle.js"></script>
<script src="./start.js"></script>
</body>
</html>
`;

const startScript = `SwaggerUIBundle({ url: "../openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null });\n`;

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export interface DocsOptions {
  endpoints: Endpoints;
  publicUrl: string;
  version: string;
}

/** Serves the API's description as OpenAPI 3.1, and a page to read and try it; everything from our own files. */
export function registerDocs(app: FastifyInstance, options: DocsOptions): void {
  let document: string | undefined;
  app.get(`${apiPrefix}/openapi.json`, async (_request, reply) => {
    document ??= JSON.stringify(
      openApiDocument(options.endpoints, { version: options.version, serverUrl: options.publicUrl }),
    );
    return reply.type("application/json; charset=utf-8").send(document);
  });
  app.get(`${apiPrefix}/doc/`, async (request, reply) => {
    // The page's links are relative to the folder, so the folder must end in a slash.
    if (!pathOf(request).endsWith("/")) return reply.redirect(`${options.publicUrl}${apiPrefix}/doc/`);
    return reply
      .header("content-security-policy", contentSecurityPolicy)
      .type("text/html; charset=utf-8")
      .send(page);
  });
  app.get(`${apiPrefix}/doc/start.js`, async (_request, reply) =>
    reply.type("text/javascript; charset=utf-8").send(startScript),
  );
  for (const [name, type] of Object.entries(assets)) {
    // In memory: the package's files may be gone when somebody asks.
    const content = readFileSync(join(assetFolder, name));
    app.get(`${apiPrefix}/doc/${name}`, async (_request, reply) =>
      reply.header("cache-control", "public, max-age=3600").type(type).send(content),
    );
  }
}
