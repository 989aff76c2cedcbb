import type { z } from "zod";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import type { endpoints } from "../../src/contract/index.ts";

type All = (typeof endpoints)[keyof typeof endpoints];

/** Method and path of an operation: `GET /environments/{org}`. */
type Address = { [E in All as `${E["method"]} ${E["path"]}`]: E };
export type OperationAddress = keyof Address;

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Base}...` ? Base : Name) | Names<Rest>
  : never;

type ParamsOf<E extends Endpoint> = [Names<E["path"]>] extends [never]
  ? { params?: undefined }
  : { params: Record<Names<E["path"]>, string | number> };

type QueryOf<E extends Endpoint> = E["query"] extends z.ZodType
  ? { query?: { [Name in keyof z.output<E["query"]>]?: z.output<E["query"]>[Name] | undefined } }
  : { query?: undefined };

type BodyOf<E extends Endpoint> = E["body"] extends { kind: "json"; schema: infer S extends z.ZodType }
  ? { body: z.input<S> }
  : E["body"] extends { kind: "multipart" }
    ? { body: FormData }
    : { body?: undefined };

/** What an operation takes. */
export type InputOf<A extends OperationAddress> = ParamsOf<Address[A]> &
  QueryOf<Address[A]> &
  BodyOf<Address[A]>;

type Success<E extends Endpoint> = E["responses"] extends { 200: infer R }
  ? R
  : E["responses"] extends { 201: infer R }
    ? R
    : never;

/** What an operation answers when it succeeds. */
export type AnswerOf<A extends OperationAddress> =
  Success<Address[A]> extends { schema: infer S extends z.ZodType } ? z.output<S> : string;

/** Reads, which may be repeated. */
export type ReadAddress = Extract<OperationAddress, `GET ${string}`>;
export type WriteAddress = Exclude<OperationAddress, ReadAddress>;
