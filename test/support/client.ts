import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { expect } from "vitest";

import { ErrorBody } from "../../src/contract/common.ts";
import { csvType } from "../../src/contract/csv.ts";
import { contentTypesOf, type Endpoint } from "../../src/contract/endpoint.ts";
import { eventStreamType } from "../../src/contract/event-stream.ts";
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
    expect(Object.keys(answer.json).filter((key) => !["message", "errors", "reason"].includes(key))).toEqual(
      [],
    );
    return;
  }
  if (answer.operation === undefined) return;
  const endpoint = (endpoints as Record<string, Endpoint>)[answer.operation];
  const response = endpoint?.responses[answer.status];
  expect(response, `${answer.operation} does not declare status ${answer.status}`).toBeDefined();
  expect(contentTypesOf(response!), `${answer.operation}: content type`).toContain(
    answer.headers["content-type"],
  );
  // What is in CSV is compared with the list in JSON by `test/contract/csv.test.ts`.
  if (response?.schema === undefined || answer.headers["content-type"] === csvType) return;
  const result = response.schema.safeParse(answer.json);
  expect(result.error?.issues ?? [], `${answer.operation} answered ${answer.text.slice(0, 500)}`).toEqual([]);
  expect(answer.json).toEqual(result.data);
}

function isEventStream(operation: string | undefined): boolean {
  const endpoint = (endpoints as Record<string, Endpoint>)[operation ?? ""];
  return endpoint?.responses[200]?.contentType === eventStreamType;
}

/** Reads what a stream of events begins with, and listens no longer. Of a failure, all of it. */
async function firstEvents(response: LightMyRequestResponse): Promise<string> {
  let text = "";
  for await (const piece of response.stream()) {
    text += String(piece);
    if (response.statusCode === 200 && text.includes("event: ready")) break;
  }
  response.raw.res.destroy();
  return text;
}

/** Sends requests with one key, and checks every answer against the contract. */
export class Client {
  readonly #server: FastifyInstance;
  readonly #lastLogged: () => string;
  readonly key: string | undefined;

  /** @param lastLogged tells what the program logged last, which is shown for an answer 500. */
  constructor(server: FastifyInstance, key: string | undefined, lastLogged: () => string = () => "") {
    this.#server = server;
    this.key = key;
    this.#lastLogged = lastLogged;
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
    const operation = findOperation(method, url);
    const response = await this.#server.inject({
      method: method as "GET",
      url,
      headers: { ...headers, ...options.headers },
      ...(payload === undefined ? {} : { payload }),
      payloadAsStream: isEventStream(operation),
    });
    const text = isEventStream(operation) ? await firstEvents(response) : response.body;
    const answer: Answer = {
      status: response.statusCode,
      headers: response.headers,
      text,
      json: parsed(text),
      operation,
    };
    if (answer.operation !== undefined) noteCoverage(answer.operation, answer.status);
    if (answer.status === 500) console.error(`${method} ${url} answered 500: ${this.#lastLogged()}`);
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
