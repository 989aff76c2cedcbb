import type { FastifyInstance, FastifyRequest } from "fastify";

import { AppError } from "../domain/errors.ts";
import { JsonError, parseJson } from "../lib/json.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body as received, for digests and signatures; null until read, and for multipart. */
    rawBody: Buffer | null;
  }
  interface FastifyContextConfig {
    /** The handler wants the bytes, not what they mean. */
    raw?: boolean;
  }
}

function isUtf8(contentType: string | undefined): boolean {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? "")?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Reads a JSON body. An empty one is undefined; clients send the text `null` where they have nothing to say. */
function readJson(request: FastifyRequest, bytes: Buffer): unknown {
  request.rawBody = bytes;
  if (request.routeOptions.config.raw === true) return bytes;
  if (!isUtf8(request.headers["content-type"]))
    throw new AppError("unsupported", "JSON must be encoded in UTF-8");
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError)
      throw new AppError("invalid", `Request body is not valid JSON: ${error.message}`);
    throw error;
  }
}

/** Teaches the server to read bodies: JSON everywhere, any type where an endpoint takes raw bytes. */
export function registerBodyParsers(app: FastifyInstance): void {
  app.decorateRequest("rawBody", null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    /^application\/(?:[\w.-]+\+)?json\b/i,
    { parseAs: "buffer" },
    (request, body, done) => {
      try {
        done(null, readJson(request, body));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  app.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (request, body, done) => {
    request.rawBody = body;
    if (request.routeOptions.config.raw === true || body.length === 0)
      done(null, body.length === 0 ? undefined : body);
    else done(new AppError("unsupported", "Content type is not supported, send application/json"));
  });
}
