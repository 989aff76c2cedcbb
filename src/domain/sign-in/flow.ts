/** What a browser keeps while a person is at the sign-in provider. */

import { z } from "zod";

import type { Site } from "../sessions.ts";

/** Name of the provider in addresses. */
export const providerName = "sso";

/** Path of the address that begins to sign in at the provider, and of the one that the provider sends browsers back to. */
export const providerPath = `/-/sign-in/oidc/${providerName}`;
export const callbackPath = `${providerPath}/callback`;

/** Path of the address that signs a person out, and of the one at which the provider says that a session of it ended. */
export const signOutPath = "/-/sign-out";
export const backChannelPath = `${signOutPath}/back-channel`;

/** Seconds that a person may take at the provider. */
export const flowSeconds = 600;

const Flow = z.strictObject({
  kind: z.literal("sign-in"),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  /** Whether a person who is signed in proves anew who they are. */
  renew: z.boolean(),
  /** SHA-256 of the session that the browser had then, in hexadecimal; null without one. */
  replaces: z.string().nullable(),
  begun_at: z.number(),
});

/** One sign-in under way. */
export type SignInFlow = Omit<z.output<typeof Flow>, "kind">;

/** Writes a sign-in under way as text, which has to be sealed before a browser gets it. */
export function writeFlow(flow: SignInFlow): string {
  return JSON.stringify({ kind: "sign-in", ...flow });
}

/** Reads a sign-in under way; undefined when the text is something else, or it took too long. @param now Unix seconds. */
export function readFlow(text: string, now: number): SignInFlow | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = Flow.safeParse(value);
  if (!parsed.success || now - parsed.data.begun_at > flowSeconds) return undefined;
  const { kind: _kind, ...flow } = parsed.data;
  return flow;
}

/**
 * Gives the cookie that holds it. It is sent when the provider leads the browser back, which the session's cookie would not be
 * (`SameSite=Lax`), and to no other page.
 */
export function flowCookieOf({ cookie }: Site): Site["cookie"] {
  const secure = cookie.attributes.endsWith("; Secure");
  const prefix = /^Path=([^;]*)/.exec(cookie.attributes)?.[1]?.replace(/\/$/, "") ?? "";
  return {
    name: `${secure ? "__Secure-" : ""}waybill-sign-in`,
    attributes: `Path=${prefix}/-/sign-in/oidc; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`,
  };
}
