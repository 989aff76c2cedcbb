import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";

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
    await page.getByRole("button", { name: "admin" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    // A browser says of every refused request that it was refused.
    expect(complaints.filter((complaint) => !/status of 40[13]/.test(complaint))).toEqual([]);
  });

  it("offers the provider that is set, with where one wanted to be", async () => {
    const { page } = await site.open({ key: null });
    const address = "http://waybill.test/-/sign-in/oidc/sso";
    const methods = [{ kind: "oidc", name: "sso", display_name: "login.example", address }];
    await page.route("**/api/v2/sign-in/methods", (route) => route.fulfill({ json: { methods } }));
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto("/-/sign-in?next=%2Facme%3Fa%3D1");
    const link = page.getByRole("link", { name: "Sign in with login.example" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(`${address}?next=%2Facme%3Fa%3D1`);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    expect(await page.getByRole("button", { name: "Sign in" }).isVisible()).toBe(true);
  });
});
