import type { FastifyRequest } from "fastify";
import type { z } from "zod";

import type { Endpoint } from "../contract/endpoint.ts";
import { inputErrors } from "../contract/input-errors.ts";
import { safeParse } from "../contract/safe-parse.ts";
import { invalidInput } from "../domain/errors.ts";
import { isStorable } from "../lib/json.ts";

/** The parameter of a path that takes the rest of it. */
export const restPattern = /\{(\w+)\.\.\.\}/;

/** Reads the parameters of a request's path. @throws AppError invalid for what no database can hold. */
export function pathParams(endpoint: Endpoint, request: FastifyRequest): Record<string, string> {
  const { "*": rest, ...params } = request.params as Record<string, string>;
  const restName = restPattern.exec(endpoint.path)?.[1];
  const named = restName === undefined || rest === undefined ? params : { ...params, [restName]: rest };
  for (const [name, value] of Object.entries(named))
    if (!isStorable(value))
      throw invalidInput({ [`path.${name}`]: "Text must not contain NUL or unpaired surrogates" });
  return named;
}

/** Validates a part of a request. @throws AppError invalid */
export function parse(schema: z.ZodType | undefined, prefix: string, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = safeParse(schema, value);
  if (!parsed.success) throw invalidInput(inputErrors(prefix, parsed.error));
  return parsed.data;
}

/** What the path and the query of a request say. */
interface AddressInput {
  params: never;
  query: never;
}

/** Reads what an address says. That it fits the endpoint was checked where the handler was written. @throws AppError invalid */
export function inputOf(endpoint: Endpoint, request: FastifyRequest): AddressInput {
  const named = pathParams(endpoint, request);
  const params = { ...named, ...(parse(endpoint.params, "path", named) as object | undefined) };
  return { params, query: parse(endpoint.query, "query", request.query) } as AddressInput;
}
