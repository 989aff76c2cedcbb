/** What a provider says when a person's session there ends (OpenID Connect Back-Channel Logout 1.0). */

import { z } from "zod";

/** Seconds that clocks may differ. */
export const skewSeconds = 60;

/** Longest subject, name of a session or of a token. */
export const longestProviderText = 255;

/** Seconds for which a logout token is taken after it was made. */
const lifeSeconds = 300;

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

const Text = z.string().min(1).max(longestProviderText);

const Claims = z
  .object({
    iss: z.string(),
    aud: z.union([z.string(), z.array(z.string())]),
    iat: z.number(),
    exp: z.number().optional(),
    jti: Text,
    events: z.object({ [logoutEvent]: z.object({}) }),
    sub: Text.optional(),
    sid: Text.optional(),
    // With a nonce it is an ID token, or made to be taken for one.
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);

/** Whose sessions end. At least one of subject and session is there. */
export interface LogoutWord {
  subject: string | undefined;
  /** The provider's own name of the session that ended there; undefined when all of the subject's did. */
  session: string | undefined;
  /** Name of the token, which is taken once. */
  name: string;
  /** From when on it is not taken any more anyway, in Unix seconds. */
  ends_at: number;
}

function jsonOf(part: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(part ?? "", "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Reads a logout token, whose signature is still to be checked (section 2.6).
 * @param expected the provider's issuer, what it calls us, and the time in Unix seconds.
 * @returns undefined for what is none, is not from there or not for us, is too old, or from the future.
 */
export function readLogoutToken(
  token: string,
  expected: { issuer: string; clientId: string; now: number },
): LogoutWord | undefined {
  const parts = token.split(".");
  const header = z.object({ typ: z.string().optional() }).safeParse(jsonOf(parts[0]));
  const claims = Claims.safeParse(jsonOf(parts[1]));
  if (parts.length !== 3 || !header.success || !claims.success) return undefined;
  const { typ } = header.data;
  if (typ !== undefined && !/^(?:application\/)?(?:logout\+jwt|jwt)$/i.test(typ)) return undefined;
  const { iss, aud, iat, exp, jti, sub, sid } = claims.data;
  const { issuer, clientId, now } = expected;
  if (iss !== issuer || ![aud].flat().includes(clientId)) return undefined;
  const ends_at = Math.min(exp ?? Number.POSITIVE_INFINITY, iat + lifeSeconds) + skewSeconds;
  if (iat > now + skewSeconds || ends_at < now) return undefined;
  return { subject: sub, session: sid, name: jti, ends_at };
}
