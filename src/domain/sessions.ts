/** Sessions of people at a browser: how long they last, the cookie that carries them, and which requests it counts for. */

/** Seconds after which a session ends that is not used, and after which it ends however much it is used. */
export const sessionSeconds = { idle: 12 * 3600, total: 30 * 24 * 3600 };

/** Seconds after a person proved who they are at a provider for which their session may do what needs a recent sign-in. */
export const recentSignInSeconds = 1800;

/** Answered where that is longer ago, with the reason that programs tell it by (the term of RFC 9470, section 3). */
export const signInAgain = {
  message: "Sign in again to do this: it needs a sign-in of the last 30 minutes",
  reason: "insufficient_user_authentication",
};

/** Seconds for which a link that signs in works. */
export const signInLinkSeconds = 600;

/** Name of the job that tells administrators of a link for an emergency. */
export const announceLinkTask = "announce_sign_in_link";

/** Most sessions that one owner has at a time; another one ends those used longest ago. */
export const mostSessions = 100;

/** Failures to sign in that one address has a minute, before it is told to wait. */
export const signInFailures = { max: 10, windowSeconds: 60 };

/** Failures to sign in that are recorded in the log of the instance, for one way to sign in and one address. */
export const toldFailures = { max: 1, windowSeconds: 60 };

/** Milliseconds that every failure to sign in takes, whatever it failed for. */
export const signInFailureMs = 300;

/** Answered where a cookie comes without proof that a page of this server sent it. */
export const notFromThisSite = "Requests with a session cookie must come from this site";

/** Where the server's pages are, as browsers tell it apart from other sites. */
export interface Site {
  /** Scheme, host and port, as browsers write them. */
  origin: string;
  cookie: { name: string; attributes: string };
}

/**
 * Makes the facts about a server's site from its public URL. Over https the cookie's name has a prefix that keeps browsers from
 * taking it from any other host; `__Host-` does not go with a path.
 */
export function siteOf(publicUrl: string): Site {
  const { origin, protocol, pathname } = new URL(publicUrl);
  const prefix = pathname.replace(/\/+$/, "");
  const secure = protocol === "https:";
  const name = `${secure ? (prefix === "" ? "__Host-" : "__Secure-") : ""}waybill-session`;
  const attributes = `Path=${prefix === "" ? "/" : prefix}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  return { origin, cookie: { name, attributes } };
}

/** Writes the header that gives a browser its session; without a token, the one that takes it away. */
export function setCookie({ cookie }: Site, token?: string): string {
  const age = token === undefined ? 0 : sessionSeconds.total;
  return `${cookie.name}=${token ?? ""}; ${cookie.attributes}; Max-Age=${age}`;
}

const longestToken = 512;

/** Reads the session, or what another cookie holds, from a `Cookie` header. Undefined when there is none to be read. */
export function readCookie(
  { cookie }: Pick<Site, "cookie">,
  header: string | undefined,
  longest = longestToken,
): string | undefined {
  if (header === undefined) return undefined;
  const start = `${cookie.name}=`;
  for (const part of header.split(";")) {
    const pair = part.trim();
    if (!pair.startsWith(start)) continue;
    const value = pair.slice(start.length);
    return value === "" || value.length > longest ? undefined : value;
  }
  return undefined;
}

/** What a browser says about where a request comes from. Pages cannot write these headers. */
export interface Provenance {
  method: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

const text = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(", ") : value;

function originOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).origin : undefined;
}

/**
 * Says whether a request was sent by a page of this site, or by a person who typed the address. Browsers leave `Sec-Fetch-Site`
 * out where the connection is neither encrypted nor to the machine itself, and `Origin` out of reads: then the page that asks
 * has to be named by `Referer`.
 */
export function comesFromSite({ origin: own }: Site, { method, headers }: Provenance): boolean {
  const reads = method === "GET" || method === "HEAD";
  const site = text(headers["sec-fetch-site"]);
  if (site !== undefined)
    return site === "same-origin" || (site === "none" && reads && headers["sec-fetch-mode"] === "navigate");
  const origin = text(headers["origin"]);
  if (origin !== undefined) return origin === own;
  const referer = text(headers["referer"]);
  return reads && referer !== undefined && originOf(referer) === own;
}
