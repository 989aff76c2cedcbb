import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { integer } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { fillPath } from "../support/operations.ts";
import { signIn } from "../support/sessions.ts";

const all = Object.entries(endpoints as Record<string, Endpoint>);
const unsafe = all.filter(([, { method }]) => method !== "GET");
const reads = all.filter(([, { method, access }]) => method === "GET" && access.kind !== "public");
const kinds = (...wanted: string[]) => unsafe.filter(([, { access }]) => wanted.includes(access.kind));

const notFromHere = { message: "Requests with a session cookie must come from this site" };
const own = "http://waybill.test";

/** What comes with requests that pages of others, or programs, send with somebody's cookie. */
const forged: Record<string, Record<string, string>> = {
  nothing: {},
  "another site": { "sec-fetch-site": "cross-site" },
  "another site that claims the origin": { "sec-fetch-site": "cross-site", origin: own, referer: `${own}/` },
  "a neighbour": { "sec-fetch-site": "same-site", origin: own },
  "a neighbour's form": { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" },
  "a typed address": { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
  "an older browser elsewhere": { origin: "https://evil.test" },
  "a sandboxed frame": { origin: "null" },
  "a longer name": { origin: `${own}.evil.test` },
  "another scheme": { origin: "https://waybill.test" },
  "another port": { origin: `${own}:8080` },
  "only where it was linked": { referer: `${own}/page` },
};
/** These read; what would be read cannot be told to other sites. */
const honestReads = new Set(["a typed address", "only where it was linked"]);

const proofs: Record<string, string>[] = [{ "sec-fetch-site": "same-origin" }, { origin: own }];

let app: TestApp;
let org: TestOrg;
let root: TestUser;
let other: TestUser;
let cookie: string;

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  root = await app.user({ instance_admin: true });
  other = await app.user({ instance_admin: true });
  for (const { name } of [root, other])
    await org.admin.put(`/members/${org.name}/${name}`, { role: "admin" });
  cookie = (await signIn(app, root.key)).cookie;
});
afterAll(() => app.close());

const send = (endpoint: Endpoint, headers: Record<string, string>) =>
  app.anonymous.request(endpoint.method, fillPath(endpoint.path, org.name), {
    headers: { "content-type": "application/json", ...headers },
    ...(endpoint.method === "GET" ? {} : { payload: "{}" }),
  });

async function changes(): Promise<number> {
  const { n } = await app.deps.db.one(query({ n: integer })`select count(*)::integer as n from audit_log`);
  return n;
}

describe("an operation that changes something, asked with a cookie", () => {
  it("is most of them", () => {
    expect(kinds("user", "organization", "instance_admin").length).toBeGreaterThan(60);
    const others = kinds("public", "signature", "site").map(([id]) => id);
    expect(others.length + kinds("user", "organization", "instance_admin").length).toBe(unsafe.length);
    expect(kinds("public")).toEqual([]);
  });

  it.each(kinds("user", "organization", "instance_admin", "site"))(
    "%s refuses whatever does not come from this site, and changes nothing",
    async (_id, endpoint) => {
      const before = await changes();
      for (const [what, headers] of Object.entries(forged)) {
        const answer = await send(endpoint, { cookie, ...headers });
        expect([what, answer.status, answer.json]).toEqual([what, 403, notFromHere]);
      }
      expect(await changes()).toBe(before);
    },
  );

  it.each(kinds("user", "organization", "instance_admin"))(
    "%s takes the cookie from a page of this site, whatever it says then",
    async (_id, endpoint) => {
      for (const proof of proofs) {
        // A session of its own, because some of them end it.
        const { cookie: fresh } = await signIn(app, other.key);
        const answer = await send(endpoint, { cookie: fresh, ...proof });
        expect(answer.status).not.toBe(401);
        expect(answer.json?.message).not.toBe(notFromHere.message);
        expect(answer.status).toBeLessThan(500);
      }
    },
  );

  it.each(kinds("signature"))("%s counts no cookie at all", async (_id, endpoint) => {
    for (const headers of [...Object.values(forged), ...proofs]) {
      const bare = await send(endpoint, headers);
      const answer = await send(endpoint, { cookie, ...headers });
      expect([answer.status, answer.json]).toEqual([bare.status, bare.json]);
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  });

  it.each(kinds("user", "organization", "instance_admin"))(
    "%s asks programs with a key for no proof",
    async (_id, endpoint) => {
      const answer = await send(endpoint, {
        authorization: "Bearer no-key-of-anybody",
        cookie,
        "sec-fetch-site": "cross-site",
      });
      expect(answer.status).toBe(401);
    },
  );
});

describe("an operation that reads, asked with a cookie", () => {
  it.each(reads)("%s refuses what does not come from this site", async (_id, endpoint) => {
    for (const [what, headers] of Object.entries(forged)) {
      const answer = await send(endpoint, { cookie, ...headers });
      if (honestReads.has(what)) expect(answer.json?.message).not.toBe(notFromHere.message);
      else expect([what, answer.status, answer.json]).toEqual([what, 403, notFromHere]);
    }
    for (const proof of proofs) {
      const answer = await send(endpoint, { cookie, ...proof });
      expect([401, 500]).not.toContain(answer.status);
      expect(answer.json?.message).not.toBe(notFromHere.message);
    }
  });
});

describe("other sites", () => {
  it("are told by no answer that they may read it", async () => {
    for (const method of ["GET", "OPTIONS", "POST"]) {
      const answer = await app.anonymous.request(method, "/user/sessions", {
        headers: { origin: "https://evil.test", "access-control-request-method": "POST", cookie },
      });
      const told = Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"));
      expect([method, told]).toEqual([method, []]);
    }
  });
});
