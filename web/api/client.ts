import { type RequestInput, requestPath } from "../domain/requests.ts";
import { noteAnswer } from "./connection.ts";
import type { AnswerOf, InputOf, OperationAddress } from "./contract.ts";
import { ApiError, errorOf } from "./errors.ts";

/** Path under which the program is reached: `/`, or a prefix with a slash at its end. */
export const basePath = document.querySelector<HTMLMetaElement>('meta[name="waybill-path"]')?.content ?? "/";

/** Writes the address of an operation, from the root of the site: what its "JSON" link and its curl command use. */
export function addressOf<A extends OperationAddress>(operation: A, input: Omit<InputOf<A>, "body">): string {
  return `${basePath}api/v2${requestPath({ operation, input })}`;
}

function bodyOf(body: unknown): RequestInit {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(address, init);
    noteAnswer(true);
    return response;
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    noteAnswer(false);
    throw new ApiError(0, navigator.onLine ? "The server cannot be reached" : "This machine is offline");
  }
}

/** An answer with the headers that some lists put their totals in. */
export interface Answered<T> {
  data: T;
  headers: Headers;
}

/**
 * Calls an operation of the public API; path, parameters, query and answer are those of the contract.
 * @throws ApiError when it is refused or the server cannot be reached.
 */
export async function callWithHeaders<A extends OperationAddress>(
  operation: A,
  input: InputOf<A>,
  signal?: AbortSignal,
): Promise<Answered<AnswerOf<A>>> {
  const method = operation.slice(0, operation.indexOf(" "));
  const response = await send(addressOf(operation, input), {
    method,
    ...bodyOf((input as RequestInput).body),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) throw await errorOf(response, operation);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const data = (isJson ? await response.json() : await response.text()) as AnswerOf<A>;
  return { data, headers: response.headers };
}

/** Calls an operation of the public API. @throws ApiError when it is refused or the server cannot be reached. */
export async function call<A extends OperationAddress>(
  operation: A,
  input: InputOf<A>,
  signal?: AbortSignal,
): Promise<AnswerOf<A>> {
  return (await callWithHeaders(operation, input, signal)).data;
}

/**
 * Signs out, here and where one signed in.
 * @returns where the browser has to go for the latter; null where there is nowhere to go, also when the session had ended already.
 * @throws ApiError when the server cannot be reached, or does not do it.
 */
export async function signOut(): Promise<string | null> {
  const response = await send(`${basePath}-/sign-out`, { method: "POST" });
  if (response.status === 401) return null;
  if (!response.ok) throw await errorOf(response);
  const { address } = (await response.json()) as { address: string | null };
  return address;
}
