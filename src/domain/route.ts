import { z } from "zod";

import { isLoopbackAddress } from "../lib/network.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { type Diagnosis, failing, fine, warning } from "./doctor.ts";

/** Header of the question by which way a request came, and of the answer. Only who has the installation's secret key can ask. */
export const routeHeader = "x-waybill-route";

/** An address that nobody has (RFC 5737): what a caller writes who wants to be taken for somebody else. */
export const pretendedAddress = "192.0.2.1";

const routeSchema = z.object({
  /** Whose connection it was. */
  peer: z.string(),
  /** Whom the request was taken to come from. */
  address: z.string(),
  /** Whether the peer is a trusted proxy. */
  is_trusted: z.boolean(),
  /** `X-Forwarded-For` as it arrived; null without one. */
  forwarded_for: z.string().nullable(),
});

/** By which way a request came to the server. */
export type Route = z.infer<typeof routeSchema>;

const purpose = "route";
/** How long a question may be on its way, in seconds; clocks of one installation differ, too. */
const longestSeconds = 60;

/** Writes the question by which way a request came. @param now Unix seconds. */
export function askRoute(secrets: SecretBox, now: number): string {
  return secrets.seal(`${purpose} ${now}`).toString("base64url");
}

/** Says whether this is the question of somebody who has the secret key, asked just now. @param now Unix seconds. */
export function isRouteAsked(secrets: SecretBox, question: string, now: number): boolean {
  try {
    const [what, at] = secrets.open(Buffer.from(question, "base64url")).split(" ");
    return what === purpose && Math.abs(now - Number(at)) <= longestSeconds;
  } catch {
    return false;
  }
}

/** Writes the answer. */
export function answerRoute(route: Route): string {
  return Buffer.from(JSON.stringify(route)).toString("base64url");
}

/** Reads the answer; undefined for what is none. */
export function readRoute(answer: string | null): Route | undefined {
  if (answer === null) return undefined;
  try {
    return routeSchema.parse(JSON.parse(Buffer.from(answer, "base64url").toString("utf8")));
  } catch {
    return undefined;
  }
}

/** What is known of the way that requests are to take. */
export interface ExpectedRoute {
  publicUrl: string;
  /** Whether the settings say that a proxy has to be there. */
  isBehindProxy: boolean;
  /** Addresses of this machine: a request of its own may rightly be believed whatever it says. */
  ownAddresses: readonly string[];
}

const trustRemedy = (peer: string): string =>
  `Set WAYBILL_TRUSTED_PROXIES to ${peer} or its network, or to the number of proxies`;

/**
 * Judges a request that was sent to the public URL with `X-Forwarded-For: 192.0.2.1`: whether the proxies on the way say whom they serve, and are
 * believed no further than they go.
 */
export function judgeRoute(
  route: Route,
  { publicUrl, isBehindProxy, ownAddresses }: ExpectedRoute,
): Diagnosis {
  const { peer, address, is_trusted, forwarded_for } = route;
  const passedOn = forwarded_for?.split(",").map((each) => each.trim());
  const isUntouched = passedOn?.length === 1 && passedOn[0] === pretendedAddress;
  if (isUntouched && !isBehindProxy) return fine(`no proxy stands between ${publicUrl} and the server`);
  if (isUntouched && address === pretendedAddress)
    return failing(
      `the proxy at ${peer} passes on whatever callers write into X-Forwarded-For: they choose the address they are taken for`,
      "Let the proxy set X-Forwarded-For to its caller's address, or append that",
    );
  if (passedOn === undefined || isUntouched)
    return warning(
      `the proxy at ${peer} does not say in X-Forwarded-For whom it serves: all callers have its address, in limits and in the audit log`,
      "Let the proxy append its caller's address to X-Forwarded-For",
    );
  if (!is_trusted)
    return warning(
      `${publicUrl} leads here through a proxy at ${peer} that is not trusted: all callers have its address, in limits and in the audit log`,
      trustRemedy(peer),
    );
  const last = passedOn.at(-1) ?? "";
  const isOwn = isLoopbackAddress(last) || ownAddresses.includes(last);
  if (address === pretendedAddress && !isOwn)
    return failing(
      `more proxies are trusted than stand between ${publicUrl} and the server: callers choose the address they are taken for`,
      "Set WAYBILL_TRUSTED_PROXIES to the networks of the proxies alone, or to their number",
    );
  return fine(`the proxy at ${peer} is trusted, and says whom it serves`);
}
