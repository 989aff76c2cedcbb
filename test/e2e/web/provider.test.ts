import { once } from "node:events";

import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { findManagedPostgres } from "../../../src/db/managed/index.ts";
import { connect } from "../../../src/db/connect.ts";
import { providerForKeys, providerInstead } from "../../../src/domain/key-rules.ts";
import { inaccessible } from "../../support/axe.ts";
import { hasBrowser, openBrowser } from "../../support/browser.ts";
import {
  freePort,
  initialAdminKey,
  spawnWaybill,
  startServer,
  withUsedDataDir,
} from "../../support/server-process.ts";
import { startProvider, type TestProvider } from "../../support/sign-in-provider.ts";
import { builtWeb } from "../../support/web-site.ts";

const pageOf = (path: string): string => `${path}/-/profile`;

/** Runs a statement on the database of a running server. */
async function runOn(dataDir: string, statement: string): Promise<void> {
  const connection = await findManagedPostgres(dataDir);
  if (connection === undefined) throw new Error("There is no database");
  const db = connect({ connection, max: 1 });
  await db.pool.query(statement);
  await db.close();
}

/** A server, the provider that people sign in at, and a browser. */
interface Site {
  url: string;
  dataDir: string;
  provider: TestProvider;
  context: BrowserContext;
  page: Page;
  end: () => Promise<void>;
}

/** Starts a server at which Ann of the provider is an administrator. @param more settings beside those of the provider. */
async function startSite(more: Record<string, string> = {}): Promise<Site> {
  const web = await builtWeb();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await startProvider(`${url}/-/sign-in/oidc/sso/callback`);
  provider.deliver = async (address, form) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return (await fetch(address, { method: "POST", headers, body: form })).status;
  };
  provider.person = {
    sub: "ann-7",
    preferred_username: "ann",
    name: "Ann Lee",
    groups: ["platform-admins", "admins-main"],
  };
  const settings = {
    PORT: String(port),
    WAYBILL_PUBLIC_URL: url,
    WAYBILL_WEB: web,
    WAYBILL_OIDC_ISSUER: provider.issuer,
    WAYBILL_OIDC_CLIENT_ID: provider.clientId,
    WAYBILL_OIDC_CLIENT_SECRET: provider.clientSecret,
    WAYBILL_OIDC_ROLES:
      '- {group: platform-admins, instance_admin: true}\n- {group: "admins-(.+)", org: "$1", role: admin}',
    ...more,
  };
  const { dataDir, stop } = await new Promise<{ dataDir: string; stop: () => Promise<void> }>(
    (resolve, reject) => {
      const served = withUsedDataDir(async (dir) => {
        const server = await startServer(dir, settings);
        await new Promise<void>((end) => {
          const stopServer = async (): Promise<void> => {
            end();
            await served;
          };
          resolve({ dataDir: dir, stop: stopServer });
        });
        await server.stop();
      });
      served.catch(reject);
    },
  );
  const context = await (await openBrowser()).newContext({ baseURL: url, timezoneId: "UTC", locale: "en" });
  const end = async (): Promise<void> => {
    await context.close();
    await stop();
    await provider.close();
  };
  return { url, dataDir, provider, context, page: await context.newPage(), end };
}

describe.skipIf(!hasBrowser)("people who sign in at a provider", { timeout: 120_000 }, () => {
  let site: Site | undefined;
  let url: string;
  let dataDir: string;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    site = await startSite();
    ({ url, dataDir, context, page } = site);
  }, 300_000);
  afterAll(() => site?.end());

  async function signIn(): Promise<void> {
    await page.goto(`/-/sign-in?next=${encodeURIComponent("/-/profile")}`);
    await page.getByRole("link", { name: /^Sign in with 127\.0\.0\.1/ }).click();
    await page.getByRole("heading", { name: "Profile" }).waitFor();
  }

  it("see where they are signed in, and who they are at the provider", async () => {
    await signIn();
    const sessions = page.getByRole("table", { name: "Sessions" });
    const here = sessions.getByRole("row").filter({ hasText: "this one" });
    await here.waitFor();
    expect(await here.getByText(/^Chrome on /).count()).toBe(1);
    await page.getByRole("table", { name: "Sign-in methods" }).getByText("as ann-7").waitFor();
    expect(await inaccessible(page)).toEqual([]);
    const other = await context.request.post(`${url}/api/v2/user/sessions`, {
      data: { api_key: initialAdminKey(dataDir) },
      headers: { origin: url },
    });
    expect(other.status()).toBe(201);
  });

  it("make a key half an hour later only after they signed in again, and come back to the page", async () => {
    await context.clearCookies();
    await signIn();
    await runOn(dataDir, "update sessions set proved_at = proved_at - interval '31 minutes'");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("What it is for").fill("at the page");
    await page.getByRole("button", { name: "Make the key" }).click();
    const again = page.getByRole("link", { name: /^Sign in again with 127\.0\.0\.1/ });
    await again.waitFor();
    expect(await inaccessible(page)).toEqual([]);
    await again.click();
    await page.waitForURL(pageOf(url));
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("What it is for").fill("at the page");
    await page.getByRole("button", { name: "Make the key" }).click();
    await page.getByText(/wb_[\w-]{43}/).waitFor();
  });

  it("end all other sessions at once", async () => {
    // The session of before goes on without its cookie.
    await context.clearCookies();
    await signIn();
    await page.getByRole("button", { name: "End all others" }).click();
    await page.getByRole("button", { name: "End the others" }).click();
    const sessions = page.getByRole("table", { name: "Sessions" });
    await expect.poll(() => sessions.getByRole("row").count()).toBe(2);
  });

  it("are shown to administrators with what gave their membership, and with their sessions", async () => {
    await page.goto("/main/settings/members");
    const row = page.getByRole("row").filter({ hasText: "ann" });
    await row.getByText("by the provider's rule").waitFor();
    await page.getByRole("row").filter({ hasText: "admin" }).getByText("by hand").first().waitFor();
    await row.getByRole("button", { name: "Sessions of ann" }).click();
    await page
      .getByRole("dialog")
      .getByText(/^Chrome on /)
      .waitFor();
    expect(await inaccessible(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  it("are told by a page when the sign-in fails", async () => {
    const stranger = await (await openBrowser()).newContext({ baseURL: url });
    const failed = await stranger.newPage();
    await failed.goto("/-/sign-in/oidc/sso/callback?code=x&state=y");
    await failed.getByRole("heading", { name: "You are not signed in" }).waitFor();
    expect(await inaccessible(failed)).toEqual([]);
    await failed.getByRole("link", { name: "Back to the sign-in page" }).click();
    await failed.getByRole("heading", { name: "Sign in" }).waitFor();
    await stranger.close();
  });

  it("are signed out at the provider, too", async () => {
    await context.clearCookies();
    await signIn();
    await page.goto("/main");
    await page.getByRole("button", { name: "Ann Lee" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(new URL(page.url()).origin).toBe(url);
    expect((await context.request.get(`${url}/api/v2/user`, { headers: { origin: url } })).status()).toBe(
      401,
    );
  });
});

/** Makes a link that signs somebody in once, as who runs the machine does. */
async function emergencyLink({ dataDir, url }: Site, user: string): Promise<string> {
  const command = spawnWaybill(["admin", "sign-in-link", user], {
    WAYBILL_DATA_DIR: dataDir,
    WAYBILL_PUBLIC_URL: url,
  });
  const chunks: string[] = [];
  command.stdout?.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  await once(command, "close");
  return chunks.join("").trim();
}

describe.skipIf(!hasBrowser)("people who have to sign in at the provider", { timeout: 300_000 }, () => {
  it("are offered no other way, and get in no other way but by a link for an emergency", async () => {
    // Of its own for each try: the provider goes away for good.
    const site = await startSite({ WAYBILL_OIDC_REQUIRE: "1" });
    onTestFinished(site.end);
    const { url, dataDir, provider, context, page } = site;
    await page.goto("/-/sign-in?next=%2F-%2Fprofile");
    const way = page.getByRole("link", { name: /^Sign in with 127\.0\.0\.1/ });
    await way.waitFor();
    expect(await page.getByRole("textbox").count()).toBe(0);
    expect(await page.getByLabel("API key").count()).toBe(0);

    // As a page of before the setting does.
    const refused = await page.evaluate(async (api_key) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ api_key });
      const answer = await fetch("/api/v2/user/sessions", { method: "POST", headers, body });
      return [answer.status, await answer.json()] as const;
    }, initialAdminKey(dataDir));
    expect(refused).toEqual([403, { message: providerInstead }]);
    expect(await context.cookies()).toEqual([]);

    await way.click();
    await page.getByRole("heading", { name: "Profile" }).waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("What it is for").fill("by hand");
    await page.getByRole("button", { name: "Make the key" }).click();
    await page.getByText(/wb_[\w-]{43}/).waitFor();

    await context.clearCookies();
    await provider.goAway();
    await page.goto(await emergencyLink(site, "admin"));
    await page.waitForURL((at) => at.pathname !== "/-/sign-in");
    await page.goto("/-/profile");
    await page.getByText("signed in with a link").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("What it is for").fill("in an emergency");
    await page.getByRole("button", { name: "Make the key" }).click();
    await page.getByText(providerForKeys).waitFor();
    expect(new URL(page.url()).origin).toBe(url);
  });
});
