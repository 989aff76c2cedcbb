import { expect } from "vitest";

import { startTestApp, type TestApp } from "./app.ts";
import { fromSite } from "./sessions.ts";
import type { TestProvider } from "./sign-in-provider.ts";

/** Path that begins to sign in, and the address that the provider leads back to. */
export const startPath = "/-/sign-in/oidc/sso";
export const backTo = `http://waybill.test${startPath}/callback`;

/** The program with this provider set. */
export async function startWith(
  at: TestProvider,
  more: Record<string, string> = {},
  beside?: TestApp,
): Promise<TestApp> {
  const environment = {
    WAYBILL_OIDC_ISSUER: at.issuer,
    WAYBILL_OIDC_CLIENT_ID: at.clientId,
    WAYBILL_OIDC_CLIENT_SECRET: at.clientSecret,
    WAYBILL_OIDC_ROLES: `
- {group: platform-admins, instance_admin: true}
- {group: "team-(.+)", org: "$1", role: member}
- {group: "admins-(.+)", org: "$1", role: admin}
- {group: auditors, org: "*", role: reader}`,
    ...more,
  };
  return startTestApp(environment, { maintained: true, ...(beside === undefined ? {} : { beside }) });
}

interface Begun {
  address: URL;
  cookie: string;
}

/** Begins to sign in as a browser does: where it is sent, and the cookie it gets. */
export async function beginAt(on: TestApp, query = ""): Promise<Begun> {
  const answer = await on.server.inject({ url: `${startPath}${query}` });
  expect(answer.statusCode, answer.body).toBe(303);
  const cookie = String(answer.headers["set-cookie"]);
  expect(cookie).toMatch(
    /^waybill-sign-in=[\w-]+; Path=\/-\/sign-in\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/,
  );
  return { address: new URL(String(answer.headers.location)), cookie: cookie.split(";", 1)[0]! };
}

/** Comes back from the provider as a browser does. */
export async function comeBackTo(on: TestApp, url: URL, cookie: string | undefined) {
  const answer = await on.server.inject({
    url: url.pathname + url.search,
    headers: { "sec-fetch-site": "cross-site", ...(cookie === undefined ? {} : { cookie }) },
  });
  const set = [answer.headers["set-cookie"] ?? []].flat();
  const session = set.find((one) => one.startsWith("waybill-session="))?.split(";", 1)[0];
  return { status: answer.statusCode, text: answer.body, headers: answer.headers, session };
}

/** Asks who has the cookie of a session. */
export async function whoHas(on: TestApp, session: string | undefined) {
  return on.anonymous.request("GET", "/user", { headers: { ...fromSite, cookie: session ?? "" } });
}
