import { keepPreviousData, type Query, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";

import { call, callWithHeaders } from "./client.ts";
import type { InputOf, ReadAddress } from "./contract.ts";
import { ApiError } from "./errors.ts";
import { isWriting } from "./writing.ts";

/** How often a page that nobody tells of changes looks for itself, in milliseconds. */
export const polling = { lists: 30_000, charts: 60_000 } as const;

/** Says whether it is worth asking again at once. Where the server says how long to wait, the page counts that down and then asks. */
const maySucceedAtOnce = (error: Error): boolean =>
  error instanceof ApiError && error.retryAfter === undefined && [0, 502, 503, 504].includes(error.status);

/**
 * Reads again what is shown and could not be refreshed, once the time that the server asks for is over. Who has nothing to show counts that
 * time down.
 */
function refreshLater(queries: QueryClient, error: Error, failed: Query<unknown, unknown>): void {
  if (!(error instanceof ApiError) || error.retryAfter === undefined || failed.state.data === undefined)
    return;
  setTimeout(() => {
    // Not what was left, or read by something else meanwhile.
    const isMeant = (query: unknown): boolean => query === failed && failed.state.error === error;
    void queries.refetchQueries({ type: "active", predicate: isMeant });
  }, error.retryAfter * 1_000);
}

/** Says whether the server answered that there is nothing for the caller to see. Other failures say nothing of what is shown. */
const isWithdrawn = (error: Error): boolean =>
  error instanceof ApiError && [401, 403, 404].includes(error.status);

/**
 * Lets go of an answer that was withdrawn, so that why stands in its place: nothing that is gone, or closed to the caller, may pass for
 * current. What somebody is writing beside it would go as well, so it stays for as long as that.
 */
function letGo(failed: Query<unknown, unknown>): void {
  if (!isWriting()) failed.setState({ data: undefined });
}

/** Keeps a refusal where it stands while it is asked again: else every change would put what is waited for in its place for a moment. */
function keepRefusals(cache: QueryCache): void {
  const refusals = new WeakMap<Query, Error>();
  cache.subscribe((event) => {
    if (event.type !== "updated") return;
    const { query, action } = event;
    if (action.type === "error") refusals.set(query, action.error);
    const error = refusals.get(query);
    if (
      action.type === "fetch" &&
      error !== undefined &&
      isWithdrawn(error) &&
      query.state.data === undefined
    )
      query.setState({ status: "error", error });
  });
}

/** Makes the cache of answers. What is refused for good is not asked again. */
export function createQueryClient(): QueryClient {
  const queries = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => (isWithdrawn(error) ? letGo(query) : refreshLater(queries, error, query)),
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 120_000,
        retry: (count, error) => count < 2 && maySucceedAtOnce(error),
        retryDelay: (count) => 400 * 2 ** count,
        refetchOnWindowFocus: true,
        // Without a network nothing waits in silence: it fails, the page says so, and asks again once there is one.
        networkMode: "always",
        refetchOnReconnect: false,
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
  keepRefusals(queries.getQueryCache());
  return queries;
}

/** Says what to ask, and under which key the answer is kept: operation and input. While input changes the old answer stays. */
export function ask<A extends ReadAddress>(operation: A, input: InputOf<A>) {
  return queryOptions({
    queryKey: [operation, input] as const,
    queryFn: ({ signal }) => call(operation, input, signal),
    placeholderData: keepPreviousData,
  });
}

/** Asks as `ask` does, for lists that tell their total in a header. */
export function askWithHeaders<A extends ReadAddress>(operation: A, input: InputOf<A>) {
  return queryOptions({
    queryKey: [operation, input, "headers"] as const,
    queryFn: ({ signal }) => callWithHeaders(operation, input, signal),
    placeholderData: keepPreviousData,
  });
}

/** Makes a question whose answer is never held over from another: about one thing, which another one's answer would be wrong for. */
export function alone<Query extends { placeholderData?: unknown }>(
  query: Query,
): Omit<Query, "placeholderData"> {
  const { placeholderData: _old, ...rest } = query;
  return rest;
}
