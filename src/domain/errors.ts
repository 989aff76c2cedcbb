/** What went wrong, in the caller's terms. The HTTP status follows from the kind, in one table, and from nothing else. */
export type ErrorKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "timeout"
  | "conflict"
  | "too_large"
  | "unsupported"
  | "rate_limited"
  | "unavailable";

/** Location in the input (`new_name`, `artifacts[0]`, `query.page`) to what is wrong there. */
export type InputErrors = Record<string, string>;

/** A failure whose message is safe and meant to be shown to the caller. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly errors: InputErrors | undefined;
  /** Whether the log says it already, once for all whom it is told. */
  readonly logged: boolean;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { errors?: InputErrors; cause?: unknown; logged?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "AppError";
    this.kind = kind;
    this.errors = options.errors;
    this.logged = options.logged ?? false;
  }
}

const lasting: ReadonlySet<ErrorKind> = new Set(["invalid", "not_found", "forbidden", "too_large"]);

/** Whether something failed for facts that trying again does not change. Everything else is worth another try. */
export function isLasting(error: unknown): error is AppError {
  return error instanceof AppError && lasting.has(error.kind);
}

/** 404 with the contract's text for the resource. */
export function notFound(message: string): AppError {
  return new AppError("not_found", message);
}

/** 400 with one sentence. */
export function invalid(message: string): AppError {
  return new AppError("invalid", message);
}

/** 400 in the shape of a failed validation: each location with what is wrong there. */
export function invalidInput(errors: InputErrors): AppError {
  return new AppError("invalid", "Input payload validation failed", { errors });
}

/** 503 for a request that would have to wait behind too many others. */
export function overloaded(): AppError {
  return new AppError("unavailable", "The server has too much to do, try again");
}

/** 403 for a caller whose role is too low. */
export function forbidden(message = "You don't have permission to access this resource"): AppError {
  return new AppError("forbidden", message);
}
