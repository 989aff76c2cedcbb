import { beforeAll, describe, expect, it } from "vitest";

import { inaccessible } from "../../support/axe.ts";
import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const byKey = { kind: "api_key", name: "api_key", display_name: "API key", address: null };
const byProvider = { kind: "oidc", name: "sso", display_name: "login.example" };

describe.skipIf(!hasBrowser)("signing in", { timeout: 60_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  it("leads to where one wanted to be, and back out", async () => {
    const { page, complaints } = await site.open({ key: null });
    await page.goto(`/${site.org}/environments?type=docker`);
    await page.getByRole("link", { name: "Sign in" }).first().click();
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Invalid").waitFor();
    await page.getByLabel("API key").fill(site.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "gateway-prod", exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe("?type=docker");
    const signOut = async (): Promise<void> => {
      await page.getByRole("button", { name: "admin" }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
    };
    const answer = { status: 503, json: { message: "The database is not available" } };
    await page.route("**/-/sign-out", (route) => route.fulfill(answer), { times: 1 });
    await signOut();
    await page.getByText("You are still signed in: The database is not available").waitFor();
    await signOut();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    // A browser says of every refused request that it was refused.
    expect(complaints.filter((complaint) => !/status of (?:40[13]|503)/.test(complaint))).toEqual([]);
  });

  it("offers the provider that is set, with where one wanted to be", async () => {
    const { page } = await site.open({ key: null });
    const address = "http://waybill.test/-/sign-in/oidc/sso";
    const methods = [byKey, { ...byProvider, address }];
    await page.route("**/api/v2/sign-in/methods", (route) => route.fulfill({ json: { methods } }));
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto("/-/sign-in?next=%2Facme%3Fa%3D1");
    const link = page.getByRole("link", { name: "Sign in with login.example" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(`${address}?next=%2Facme%3Fa%3D1`);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    expect(await page.getByRole("button", { name: "Sign in" }).isVisible()).toBe(true);
  });

  it("asks for no key where the provider is the only way in, and says what to do while it is away", async () => {
    const { page, complaints } = await site.open({ key: null });
    const methods = [{ ...byProvider, address: "http://waybill.test/-/sign-in/oidc/sso" }];
    await page.route("**/api/v2/sign-in/methods", (route) => route.fulfill({ json: { methods } }));
    await page.goto("/-/sign-in");
    await page.getByRole("link", { name: "Sign in with login.example" }).waitFor();
    await page.getByText("With your account at login.example.").waitFor();
    await page.getByText(/waybill admin sign-in-link/).waitFor();
    expect(await page.getByLabel("API key").count()).toBe(0);
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 320],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 640 });
      expect(await inaccessible(page)).toEqual([]);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
    expect(complaints).toEqual([]);
    // A link that signs in once works there, too; one that does not says so.
    await page.goto("/-/sign-in#token=of-no-link");
    await page.reload();
    await page.getByText("Invalid or missing credentials").waitFor();
  });
});
