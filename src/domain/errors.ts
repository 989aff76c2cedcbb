/** Kinds of failures, in the caller's terms. The HTTP status follows from the kind alone, in one table. */
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

/** What is wrong in the input, by location: `new_name`, `artifacts[0]`, `query.page`. */
export type InputErrors = Record<string, string>;

/** A failure whose message is safe and meant to be shown to the caller. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly errors: InputErrors | undefined;
  /** Whether it is in the log already, so that it is not logged again for each caller. */
  readonly logged: boolean;
  /** Seconds after which it is worth another try, where that is known. */
  readonly retryAfter: number | undefined;
  /** What programs tell it by, where the kind alone does not say what to do about it. */
  readonly reason: string | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: {
      errors?: InputErrors;
      cause?: unknown;
      logged?: boolean;
      retryAfter?: number;
      reason?: string;
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "AppError";
    this.kind = kind;
    this.errors = options.errors;
    this.logged = options.logged ?? false;
    this.retryAfter = options.retryAfter;
    this.reason = options.reason;
  }
}

const permanent: ReadonlySet<ErrorKind> = new Set(["invalid", "not_found", "forbidden", "too_large"]);

/** Says whether trying again cannot help. Every other failure is worth another try. */
export function isPermanent(error: unknown): error is AppError {
  return error instanceof AppError && permanent.has(error.kind);
}

/** Makes a 404 with the contract's text for the resource. */
export function notFound(message: string): AppError {
  return new AppError("not_found", message);
}

/** Makes a 400 with one sentence. */
export function invalid(message: string): AppError {
  return new AppError("invalid", message);
}

/** Makes a 400 in the shape of a failed validation: each location with what is wrong there. */
export function invalidInput(errors: InputErrors): AppError {
  return new AppError("invalid", "Input payload validation failed", { errors });
}

/** Makes a 409 for a request that others got in the way of, and that succeeds when it is made again. */
export function collision(cause?: unknown): AppError {
  return new AppError("conflict", "Another request changed the same records, try again", { cause });
}

/** Makes a 503 for a request that would have to wait behind too many others. */
export function overloaded(): AppError {
  return new AppError("unavailable", "The server is overloaded, try again");
}

/** Makes a 403 for a caller whose role is too low. */
export function forbidden(message = "You don't have permission to access this resource"): AppError {
  return new AppError("forbidden", message);
}
