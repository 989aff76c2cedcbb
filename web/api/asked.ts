import type { QueryClient } from "@tanstack/react-query";

import type { Asking, RequestInput } from "../domain/requests.ts";
import type { ReadAddress } from "./contract.ts";
import { operationAccess } from "./operations.ts";

/** A request that a page has sent, with what was answered. */
export interface Asked extends Asking {
  operation: ReadAddress;
  /** Undefined while nothing was answered. */
  answer: unknown;
  error: Error | null;
}

const isRead = (operation: unknown): operation is ReadAddress =>
  typeof operation === "string" && operation.startsWith("GET /") && Object.hasOwn(operationAccess, operation);

const isInput = (input: unknown): input is RequestInput => typeof input === "object" && input !== null;

/** Takes an answer out of what is kept of it: some lists are kept with the headers that count them. */
function answerIn(kept: unknown): unknown {
  if (typeof kept === "object" && kept !== null && "data" in kept && "headers" in kept)
    return kept.headers instanceof Headers ? kept.data : kept;
  return kept;
}

/** Lists what the parts that are shown have asked, in the order they asked. */
export function askedRequests(queries: QueryClient): Asked[] {
  return queries
    .getQueryCache()
    .findAll({ type: "active" })
    .flatMap(({ queryKey: [operation, input], state: { data, error } }) =>
      isRead(operation) && isInput(input) ? [{ operation, input, answer: answerIn(data), error }] : [],
    );
}
