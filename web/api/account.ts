import { queryOptions, useQuery } from "@tanstack/react-query";

import type { Need, Role } from "../domain/roles.ts";
import { refusal, roleUnknown } from "../domain/roles.ts";
import { call } from "./client.ts";
import type { AnswerOf, OperationAddress } from "./contract.ts";
import { ApiError } from "./errors.ts";
import { operationAccess } from "./operations.ts";

export type Account = AnswerOf<"GET /user">;
export type OwnOrganization = AnswerOf<"GET /organizations">[number];

async function unlessSignedOut<T, Else>(answer: Promise<T>, otherwise: Else): Promise<T | Else> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return otherwise;
    throw error;
  }
}

/** Asks who is signed in; null for nobody. */
export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => unlessSignedOut(call("GET /user", {}, signal), null),
  staleTime: 60_000,
});

/** Asks for the organizations of who is signed in, with their role; none for nobody. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: ({ signal }): Promise<AnswerOf<"GET /organizations">> =>
    unlessSignedOut(call("GET /organizations", {}, signal), []),
  staleTime: 60_000,
});

/** Asks for the ways to sign in. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in-methods"],
  queryFn: ({ signal }) => call("GET /sign-in/methods", {}, signal),
  staleTime: 60_000,
});

/** Says whether people come by the sign-in provider alone; undefined until that is known. */
export function useProviderOnly(): boolean | undefined {
  const { data } = useQuery(signInMethodsQuery);
  return data === undefined ? undefined : data.methods.every(({ kind }) => kind !== "api_key");
}

/** Gives who is signed in: null for nobody, undefined until that is known. */
export function useAccount(): Account | null | undefined {
  return useQuery(accountQuery).data;
}

/** Gives the caller's role in an organization; undefined for those who are no members, null until it is known. */
export function useRole(org: string): Role | null | undefined {
  const { data } = useQuery(organizationsQuery);
  return data === undefined ? null : data.find(({ name }) => name === org)?.role;
}

/**
 * Says why an operation is refused to somebody, or `roleUnknown`; undefined when it is not.
 * @param account undefined until it is known who asks. @param role as `useRole` has it.
 */
export function refusalTo(
  account: Account | null | undefined,
  role: Role | null | undefined,
  operation: OperationAddress,
): string | undefined {
  const need: Need = operationAccess[operation];
  if (need !== "instance_admin") return refusal(need, role);
  if (account === undefined) return roleUnknown;
  return account?.is_instance_admin === true ? undefined : refusal(need, undefined);
}

/** Says why an operation is refused to the caller in this organization, or `roleUnknown`; undefined when it is not. */
export function useRefusal(org: string, operation: OperationAddress): string | undefined {
  const role = useRole(org);
  return refusalTo(useAccount(), role, operation);
}
