import { useMutation, type UseMutationResult, useQueryClient } from "@tanstack/react-query";

import type { Asking } from "../domain/requests.ts";
import { call } from "./client.ts";
import type { AnswerOf, InputOf, WriteAddress } from "./contract.ts";

/** An operation that can be made to happen, and how that went. */
export type Action<A extends WriteAddress> = UseMutationResult<AnswerOf<A>, Error, InputOf<A>> & {
  operation: A;
};

/**
 * Makes an action of an operation that writes. When it is done everything that is shown is read again.
 * @param onDone called with the answer and what was sent, and awaited, before that: who leads away from what is no more leaves it unread.
 * @param before awaited before it is sent; what it throws keeps it from that.
 */
export function useAction<A extends WriteAddress>(
  operation: A,
  onDone?: (answer: AnswerOf<A>, input: InputOf<A>) => void | Promise<void>,
  before?: () => Promise<void>,
): Action<A> {
  const queries = useQueryClient();
  const action = useMutation<AnswerOf<A>, Error, InputOf<A>>({
    // Answers may hold secrets: none outlives what asked for it.
    gcTime: 0,
    mutationFn: async (input) => {
      await before?.();
      return call(operation, input);
    },
    onSuccess: async (answer, input) => {
      await onDone?.(answer, input);
      await queries.invalidateQueries();
    },
  });
  const reset = (): void => {
    // What is under way is not let go of: it may be refused yet, or answer what is shown once.
    if (!action.isPending) action.reset();
  };
  return { ...action, reset, operation };
}

/** Names what will be sent, as the operation takes it. */
export function sending<A extends WriteAddress>(operation: A, input: InputOf<A>): Sending {
  return { operation, input };
}

/**
 * Makes an action of several requests, which are sent one after the other; what follows one that is refused is not. Some may be done
 * then, so that what is shown is read again in any case.
 * @param onDone called when all are done, and awaited, before that.
 */
export function useActions(
  onDone: () => void | Promise<void>,
): UseMutationResult<void, Error, readonly Sending[]> {
  const queries = useQueryClient();
  return useMutation({
    gcTime: 0,
    mutationFn: async (sends) => {
      for (const { operation, input } of sends) await call(operation, input as InputOf<WriteAddress>);
    },
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries(),
  });
}

/** What will be sent. */
export type Sending = Asking & { operation: WriteAddress };
