import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { backTo, beginAt, comeBackTo, startPath, startWith } from "../support/at-provider.ts";
import { startTestApp } from "../support/app.ts";
import { startProvider, type TestProvider } from "../support/sign-in-provider.ts";

let provider: TestProvider;
beforeAll(async () => {
  provider = await startProvider(backTo);
});
afterAll(() => provider.close());

describe("the provider", () => {
  it("is asked for the strength that is set, which is checked", async () => {
    const strict = await startWith(provider, { WAYBILL_OIDC_ACR: "urn:mfa", WAYBILL_OIDC_MAX_AGE: "300" });
    try {
      provider.person = { sub: "strict", preferred_username: "strict" };
      const { address, cookie } = await beginAt(strict);
      expect(address.searchParams.get("acr_values")).toBe("urn:mfa");
      expect(address.searchParams.get("max_age")).toBe("300");
      const answer = await comeBackTo(strict, await provider.visit(address.href), cookie);
      expect([answer.status, answer.session]).toEqual([401, undefined]);
      expect(strict.logged()).toContain("ACR_NOT_MET");
      const forgery = async (claims: object): Promise<number> => {
        const begun = await beginAt(strict);
        const now = Math.floor(Date.now() / 1000);
        const all = { iss: provider.issuer, aud: "waybill", sub: "strict", iat: now, exp: now + 300 };
        const more = {
          nonce: begun.address.searchParams.get("nonce"),
          groups: [],
          preferred_username: "x",
          email: "",
        };
        const id_token = provider.sign({ ...all, ...more, ...claims });
        provider.tokens = () => ({ access_token: "x", token_type: "Bearer", id_token });
        const url = new URL(backTo);
        const state = begun.address.searchParams.get("state") ?? "";
        url.search = new URLSearchParams({ code: "any", state, iss: provider.issuer }).toString();
        return (await comeBackTo(strict, url, begun.cookie)).status;
      };
      const acr = "urn:mfa";
      const proved = Math.floor(Date.now() / 1000);
      expect(await forgery({ acr, auth_time: proved - 200 })).toBe(303);
      expect(await forgery({ acr, auth_time: proved - 340 })).toBe(303);
      expect(await forgery({ acr, auth_time: proved - 400 })).toBe(401);
      expect(await forgery({ acr })).toBe(401);
      expect(await forgery({ auth_time: proved })).toBe(401);
      expect(await forgery({ acr: "urn:other", auth_time: proved })).toBe(401);
    } finally {
      await strict.close();
    }
  });

  it("has a cookie for https alone where pages are encrypted", async () => {
    const encrypted = await startProvider("https://waybill.test/-/sign-in/oidc/sso/callback");
    const secure = await startWith(encrypted, { WAYBILL_PUBLIC_URL: "https://waybill.test" });
    try {
      encrypted.person = { sub: "s", preferred_username: "bob" };
      const begun = await secure.server.inject({ url: startPath });
      const flow = String(begun.headers["set-cookie"]);
      expect(flow).toMatch(
        /^__Secure-waybill-sign-in=[\w-]+; Path=\/-\/sign-in\/oidc; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
      );
      const url = await encrypted.visit(String(begun.headers.location));
      const answer = await secure.server.inject({
        url: url.pathname + url.search,
        headers: { cookie: flow.split(";", 1)[0]!, "sec-fetch-site": "cross-site" },
      });
      expect([answer.headers["set-cookie"]].flat().at(-1)).toMatch(
        /^__Host-waybill-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=2592000$/,
      );
    } finally {
      await secure.close();
      await encrypted.close();
    }
  });

  it("is nowhere when none is set", async () => {
    const without = await startTestApp();
    try {
      expect((await without.server.inject({ url: startPath })).statusCode).toBe(404);
      expect((await without.anonymous.get("/sign-in/methods")).json.methods).toHaveLength(1);
    } finally {
      await without.close();
    }
  });
});
