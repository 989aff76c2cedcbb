import { setTimeout as sleep } from "node:timers/promises";

import type { z } from "zod";

import type { Endpoint } from "../src/contract/endpoint.ts";
import { CliError } from "../src/cli/output.ts";

type BodyOf<E extends Endpoint> = E["body"] extends { schema: infer S extends z.ZodType }
  ? { body: z.input<S> }
  : { body?: undefined };

type SuccessOf<E extends Endpoint> = E["responses"][keyof E["responses"] & (200 | 201)];

/** The body of an endpoint's successful answer. */
type AnswerOf<E extends Endpoint> =
  SuccessOf<E> extends infer R
    ? R extends { schema: infer S extends z.ZodType }
      ? z.output<S>
      : string
    : never;

type ParamsOf<E extends Endpoint> = E["path"] extends `${string}{${string}}${string}`
  ? { params: Record<string, string> }
  : { params?: undefined };

/** Everything a call of an endpoint needs. */
type Question<E extends Endpoint> = BodyOf<E> &
  ParamsOf<E> & {
    query?: Record<string, string>;
    /** Names and contents of a multipart body's files. */
    files?: Record<string, { filename: string; text: string }>;
    headers?: Record<string, string>;
  };

/** The failure of a call that was not answered with success. */
export class ApiError extends CliError {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A client of the public API. Types of requests and answers follow from the endpoint. */
export interface Api {
  /** Base address, without the API's prefix and a trailing slash. */
  readonly url: string;
  /** Calls an endpoint. @throws ApiError when the answer is not success. */
  call<E extends Endpoint>(endpoint: E, question: Question<E>): Promise<AnswerOf<E>>;
  /** Makes a client of the same server with another key, or none. */
  as(key: string | undefined): Api;
}

/** Statuses that are worth another attempt: a conflict with another write, too many requests, database away. */
const passing = new Set([409, 429, 503]);
const attempts = 5;

function pathOf(endpoint: Endpoint, params: Record<string, string> = {}): string {
  return endpoint.path.replace(/\{(\w+)(\.\.\.)?\}/g, (_whole, name: string, rest: string | undefined) => {
    const value = encodeURIComponent(params[name] ?? "");
    return rest === undefined ? value : value.replaceAll("%2F", "/");
  });
}

function bodyOf(
  endpoint: Endpoint,
  question: Question<Endpoint>,
): { body?: NonNullable<RequestInit["body"]>; type?: string } {
  const { body, files } = question as { body?: unknown; files?: Question<Endpoint>["files"] };
  if (body === undefined || endpoint.body === undefined) return {};
  if (endpoint.body.kind !== "multipart")
    return {
      body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      type: "application/json",
    };
  const form = new FormData();
  form.append(endpoint.body.field, JSON.stringify(body));
  for (const [name, { filename, text }] of Object.entries(files ?? {}))
    form.append(name, new Blob([text]), filename);
  return { body: form };
}

function explain(endpoint: Endpoint, path: string, status: number, text: string): string {
  let reason = text;
  try {
    const { message, errors } = JSON.parse(text) as { message?: string; errors?: Record<string, string> };
    const details = Object.entries(errors ?? {}).map(([where, what]) => `${where}: ${what}`);
    reason = [message ?? text, ...details].join("; ");
  } catch {
    // Not one of ours: shown as it is.
  }
  return `${endpoint.method} ${path} was answered ${status}: ${reason.slice(0, 500)}`;
}

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { ...init, signal: AbortSignal.timeout(60_000) });
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new CliError(`${new URL(address).origin} does not answer (${cause}). Is the server running?`);
  }
}

/** Creates a client. @param url base address of the server, without a trailing slash. */
export function createApi(url: string, key: string | undefined): Api {
  async function call(endpoint: Endpoint, question: Question<Endpoint>): Promise<unknown> {
    const path = pathOf(endpoint, question.params);
    const query = question.query === undefined ? "" : `?${new URLSearchParams(question.query).toString()}`;
    for (let attempt = 1; ; attempt += 1) {
      const { body, type } = bodyOf(endpoint, question);
      const response = await reach(`${url}/api/v2${path}${query}`, {
        method: endpoint.method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(type === undefined ? {} : { "content-type": type }),
          ...question.headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.text();
      if (response.ok)
        return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
      if (!passing.has(response.status) || attempt === attempts)
        throw new ApiError(response.status, explain(endpoint, path, response.status, text));
      await sleep(1000 * (Number(response.headers.get("retry-after")) || 0.2 * attempt));
    }
  }
  return { url, call: call as Api["call"], as: (other) => createApi(url, other) };
}
