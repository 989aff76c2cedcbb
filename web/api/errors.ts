import type { OperationAddress } from "./contract.ts";

type More = Partial<Pick<ApiError, "errors" | "reason" | "requestId" | "retryAfter" | "operation">>;

/** A request that the server refused, or that never got to it. */
export class ApiError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** What is wrong with which part of the input. */
  readonly errors: Readonly<Record<string, string>>;
  /** What there is to do about it, where the server says so in a word. */
  readonly reason: string | undefined;
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, where the server says so. */
  readonly retryAfter: number | undefined;
  /** What was asked for. */
  readonly operation: OperationAddress | undefined;
  /** When it was refused, in milliseconds since 1970: no two refusals are taken for one. */
  readonly at = Date.now();

  constructor(status: number, message: string, more: More = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.errors = more.errors ?? {};
    this.reason = more.reason;
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
    this.operation = more.operation;
  }
}

interface ErrorText {
  message?: string;
  errors?: Record<string, string>;
  reason?: string;
}

function messageIn(text: string): ErrorText {
  try {
    return JSON.parse(text) as ErrorText;
  } catch {
    return {};
  }
}

/** Reads what the server says of a request that failed. */
export async function errorOf(response: Response, operation?: OperationAddress): Promise<ApiError> {
  const { message, errors, reason } = messageIn(await response.text().catch(() => ""));
  const wait = Number(response.headers.get("retry-after"));
  return new ApiError(response.status, message ?? `The server answered ${response.status}`, {
    errors: errors ?? {},
    reason,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfter: Number.isFinite(wait) && wait > 0 ? wait : undefined,
    operation,
  });
}

/**
 * Says what is wrong with the input where the server names that, in place of its words for any such refusal.
 * @param isNamed whether each mistake is led by the part of the input that it is in.
 */
export function withMistakes(error: Error, isNamed = false): { message: string } {
  const mistakes = error instanceof ApiError ? Object.entries(error.errors) : [];
  if (mistakes.length === 0) return error;
  return { message: mistakes.map(([part, words]) => (isNamed ? `${part}: ${words}` : words)).join("\n") };
}
