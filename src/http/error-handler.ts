import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import { isConnectionFailure, sqlState, sqlStateOf } from "../db/sqlstate.ts";
import { AppError, type ErrorKind } from "../domain/errors.ts";
import { shortageOf } from "./shortage.ts";

/** The one table that turns what went wrong into an HTTP status. */
const statusOf: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  timeout: 408,
  conflict: 409,
  too_large: 413,
  unsupported: 415,
  rate_limited: 429,
  unavailable: 503,
};

const frameworkErrors: Record<string, AppError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new AppError("too_large", "Request body is too large"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new AppError(
    "unsupported",
    "Content type is not supported, send application/json",
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new AppError(
    "invalid",
    "Request body does not have the announced length",
  ),
  FST_ERR_BAD_URL: new AppError("invalid", "URL is not valid"),
};

/** Says what a failure means to the caller; undefined when it is our fault and the caller learns nothing. */
function explain(error: FastifyError): AppError | undefined {
  if (error instanceof AppError) return error;
  const known = frameworkErrors[error.code];
  if (known !== undefined) return known;
  const shortage = shortageOf(error);
  if (shortage !== undefined)
    return new AppError("unavailable", `${shortage}, try again later`, { cause: error });
  if (isConnectionFailure(error))
    return new AppError("unavailable", "The database is not available, try again", { cause: error });
  // What the request refers to was there when it was looked up, and is gone now that it is written.
  if (sqlStateOf(error) === sqlState.foreignKeyViolation)
    return new AppError("conflict", "A record this request refers to was removed meanwhile", {
      cause: error,
    });
  return undefined;
}

/** Says what a failure is to people at a browser: status and sentence. A fault of ours is 500 with none. */
export function shownFailure(error: unknown): { status: number; message: string | undefined } {
  const shown = explain(error as FastifyError);
  return shown === undefined
    ? { status: 500, message: undefined }
    : { status: statusOf[shown.kind], message: shown.message };
}

/** Writes every error body there is: `{"message", "errors"?, "reason"?}`, status by kind, details of faults only to the log. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const shown = explain(error);
  if (shown === undefined) request.log.error({ err: error }, "request failed");
  else if (shown.kind === "unavailable" && !shown.logged)
    // Without a cause it is a limit that was reached: where in the program says nothing, and there may be many.
    request.log.warn(
      shown.cause === undefined ? { reason: shown.message } : { err: shown.cause },
      "service unavailable",
    );
  else if (shown.kind === "conflict" && shown.cause !== undefined)
    request.log.warn({ err: shown.cause }, "request collided with another");
  const status = shown === undefined ? 500 : statusOf[shown.kind];
  // What comes on this connection would be taken for the rest of the body.
  if (status === 408) reply.header("connection", "close");
  if (status === 401) reply.header("www-authenticate", "Bearer");
  if (shown?.retryAfter !== undefined) reply.header("retry-after", String(shown.retryAfter));
  if (status === 503 && !reply.hasHeader("retry-after")) reply.header("retry-after", "2");
  return reply
    .code(status)
    .type("application/json; charset=utf-8")
    .send(
      JSON.stringify({
        message: shown?.message ?? "Internal error",
        ...(shown?.errors === undefined ? {} : { errors: shown.errors }),
        ...(shown?.reason === undefined ? {} : { reason: shown.reason }),
      }),
    );
}
