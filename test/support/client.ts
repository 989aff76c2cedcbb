import type { FastifyInstance } from "fastify";
import { expect } from "vitest";

import { ErrorBody } from "../../src/contract/common.ts";
import { contentTypesOf, type Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { noteCoverage } from "./coverage.ts";
import { findOperation } from "./operations.ts";

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  text: string;
  // Tests read answers freely; what they read is compared at once.
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any;
  operation: string | undefined;
}

/** Files and fields of a multipart body. */
export type Parts = Record<string, string | { filename: string; content: string | Buffer }>;

export interface RequestOptions {
  json?: unknown;
  parts?: Parts;
  /** Sent as it is. */
  payload?: string | Buffer;
  headers?: Record<string, string>;
}

function multipart(parts: Parts): { payload: Buffer; contentType: string } {
  const boundary = "----waybill-test-boundary";
  const chunks: Buffer[] = [];
  for (const [name, part] of Object.entries(parts)) {
    const file =
      typeof part === "string"
        ? ""
        : `; filename="${part.filename}"\r\nContent-Type: application/octet-stream`;
    chunks.push(
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`),
      Buffer.from(typeof part === "string" ? part : part.content),
      Buffer.from("\r\n"),
    );
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return { payload: Buffer.concat(chunks), contentType: `multipart/form-data; boundary=${boundary}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Holds every answer against the contract: declared status, exact shape, no key that the schema does not name. */
function checkAnswer(answer: Answer): void {
  if (answer.status >= 400) {
    expect(ErrorBody.safeParse(answer.json).success, `error body: ${answer.text}`).toBe(true);
    expect(Object.keys(answer.json).filter((key) => key !== "message" && key !== "errors")).toEqual([]);
    return;
  }
  if (answer.operation === undefined) return;
  const endpoint = (endpoints as Record<string, Endpoint>)[answer.operation];
  const response = endpoint?.responses[answer.status];
  expect(response, `${answer.operation} does not declare status ${answer.status}`).toBeDefined();
  expect(contentTypesOf(response!), `${answer.operation}: content type`).toContain(
    answer.headers["content-type"],
  );
  if (response?.schema === undefined) return;
  const result = response.schema.safeParse(answer.json);
  expect(result.error?.issues ?? [], `${answer.operation} answered ${answer.text.slice(0, 500)}`).toEqual([]);
  expect(answer.json).toEqual(result.data);
}

/** Sends requests with one key, and checks every answer against the contract. */
export class Client {
  readonly #server: FastifyInstance;
  readonly key: string | undefined;

  constructor(server: FastifyInstance, key: string | undefined) {
    this.#server = server;
    this.key = key;
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers: Record<string, string> = {};
    if (this.key !== undefined) headers["authorization"] = `Bearer ${this.key}`;
    let payload = options.payload;
    if (options.json !== undefined) {
      headers["content-type"] = "application/json; charset=utf-8";
      payload = JSON.stringify(options.json);
    } else if (options.parts !== undefined) {
      const body = multipart(options.parts);
      headers["content-type"] = body.contentType;
      payload = body.payload;
    }
    // Paths are below /api/v2, written out or not; one that starts with `root:` is below the server's root.
    const below = path.startsWith("/api/") ? path : `/api/v2${path}`;
    const url = path.startsWith("root:") ? path.slice("root:".length) : below;
    const response = await this.#server.inject({
      method: method as "GET",
      url,
      headers: { ...headers, ...options.headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const answer: Answer = {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      json: parsed(response.body),
      operation: findOperation(method, url),
    };
    if (answer.operation !== undefined) noteCoverage(answer.operation, answer.status);
    checkAnswer(answer);
    return answer;
  }

  get(path: string, options?: RequestOptions): Promise<Answer> {
    return this.request("GET", path, options);
  }

  post(path: string, json?: unknown): Promise<Answer> {
    return this.request("POST", path, json === undefined ? {} : { json });
  }

  put(path: string, json?: unknown): Promise<Answer> {
    return this.request("PUT", path, json === undefined ? {} : { json });
  }

  patch(path: string, json?: unknown): Promise<Answer> {
    return this.request("PATCH", path, json === undefined ? {} : { json });
  }

  delete(path: string, json?: unknown): Promise<Answer> {
    return this.request("DELETE", path, json === undefined ? {} : { json });
  }
}
