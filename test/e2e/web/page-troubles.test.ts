import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { pagePaths } from "../../../web/paths.ts";
import { hasBrowser } from "../../support/browser.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { pageAddresses } from "../../support/page-addresses.ts";
import { missingStates, visitsOf } from "../../support/page-states.ts";
import {
  everyNth,
  holdBack,
  jumps,
  makeTrouble,
  momentOfFonts,
  patience,
  unsaid,
  type Visit,
  visitAll,
  type Visitor,
  wrongLooks,
} from "../../support/page-visits.ts";
import { makeKey } from "../../support/state-organizations.ts";
import { amount } from "../../support/thorough.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { openSite, type WebSite } from "../../support/web.ts";

/** Shows a page, and expects that it says what it should. */
async function look(visitor: Visitor, visit: Visit): Promise<string[]> {
  await visitor.page.goto(visit.address);
  await visitor.page.getByRole("heading", { level: 1 }).first().waitFor();
  await visitor.settle();
  return [...(await unsaid(visitor, visit)), ...(await wrongLooks(visitor))];
}

/** Shows a page that waits for its answers, and then gets them: nothing may move that was to be seen. */
async function lookWaiting(
  visitor: Visitor,
  { address }: Visit,
  inTurn?: readonly string[],
): Promise<string[]> {
  const { page, settle } = visitor;
  const letThrough = await holdBack(visitor);
  await page.goto(address);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.locator('main [aria-busy="true"]').first().waitFor();
  const wrong = await wrongLooks(visitor);
  const since = await momentOfFonts(visitor);
  await letThrough(inTurn);
  await settle();
  // When all come at once it is left to chance what is drawn in between.
  const limit = inTurn === undefined ? 0.15 : 0.05;
  return [...wrong, ...(await jumps(visitor, since, limit))];
}

/** Shows a page whose answers fail, and tries again once they do not. */
async function lookFailed(visitor: Visitor, { address }: Visit): Promise<string[]> {
  const { page, settle } = visitor;
  const end = await makeTrouble(page, { status: 500, message: "Internal error" });
  await page.goto(address);
  const failed = page.getByRole("alert").filter({ hasText: "This could not be read" });
  await failed.first().waitFor();
  await settle();
  const wrong = [
    ...(await unsaid(visitor, { pattern: "", address, says: ["Internal error", "request-4711"] })),
    ...(await wrongLooks(visitor)),
  ];
  end();
  const again = page.getByRole("button", { name: "Try again" });
  await expect
    .poll(
      async () => {
        if ((await again.count()) > 0) await again.first().click();
        return failed.count();
      },
      { timeout: patience },
    )
    .toBe(0);
  return wrong;
}

/** Shows a page whose answers have to wait as long as the server says, and does nothing until they are there. */
async function lookAtCountdown(visitor: Visitor, { address }: Visit, status: number): Promise<string[]> {
  const { page } = visitor;
  const end = await makeTrouble(page, { status, message: "Try again", headers: { "retry-after": "2" } });
  await page.goto(address);
  const countdown = page.getByText(/^It is tried again in [12] s\.$/);
  await countdown.first().waitFor();
  const wrong = await wrongLooks(visitor);
  end();
  await countdown.first().waitFor({ state: "detached" });
  await page.getByRole("alert").first().waitFor({ state: "detached" });
  return wrong;
}

describe.skipIf(!hasBrowser)("pages", { timeout: 300_000 }, () => {
  let site: WebSite;
  let visits: Visit[];
  let strangers: OwnOrganization;
  let strangersKey: string;
  beforeAll(async () => {
    site = await openSite();
    const addresses = await pageAddresses(site);
    visits = pagePaths.map((pattern, at) => ({ pattern, address: addresses[at]! }));
    strangers = await makeOrganization(site, "states-strangers");
    strangersKey = await makeKey(strangers, "reader");
  }, 180_000);

  /** Without those that ask for nothing before something is chosen or written. */
  const reading = (): Visit[] =>
    visits.filter(
      ({ pattern }) =>
        ![
          "/",
          "/-/sign-in",
          "/-/invitation",
          // Shows what the frame around all pages knows.
          "/-/organizations",
          "/-/organizations/new",
          "/$org/diff",
          "/$org/environments/-/new",
          "/$org/flows/-/new",
          "/$org/policies/-/new",
          "/$org/actions/-/new",
          "/$org/attestation-types/-/new",
        ].includes(pattern),
    );

  it("hold room for answers that are slow, and do not jump when they come", async () => {
    // How many keys and sessions somebody has is not known before, and other tests sign in as the same person.
    const still = reading().filter(({ pattern }) => pattern !== "/-/profile");
    expect(await visitAll(site, everyNth(still, amount(2, 1)), { turn: 0, look: lookWaiting })).toEqual([]);
  });

  it.each([
    ["/$org/spaces", ["spaces", "environments", "flows"], 0],
    ["/$org/spaces", ["spaces", "flows", "environments"], 1],
    ["/$org/spaces", ["flows", "spaces", "environments"], 2],
    // First the artifact itself, then why it has its state.
    ["/$org/flows/$flow/artifacts/$fingerprint", ["artifacts", "artifacts", "search", "provenance"], 0],
    ["/$org/flows/$flow/artifacts/$fingerprint", ["artifacts", "provenance", "search", "artifacts"], 1],
    ["/$org/artifacts/$fingerprint", ["search", "provenance"], 3],
  ])(
    "hold room where one answer decides what is shown of others: %s, when these come: %j",
    async (at, inTurn, turn) => {
      const pages = reading().filter(({ pattern }) => pattern === at);
      const lookAt = (visitor: Visitor, visit: Visit): Promise<string[]> =>
        lookWaiting(visitor, visit, inTurn);
      // Wide or narrow, or each.
      const each = amount(pages, [...pages, ...pages]);
      expect(await visitAll(site, each, { turn, look: lookAt })).toEqual([]);
    },
  );

  it("tell strangers why they are closed", async () => {
    const inOrganizations = reading().filter(({ pattern }) => pattern.startsWith("/$org"));
    const closed = everyNth(inOrganizations, amount(6, 1)).map((visit) => ({
      ...visit,
      says: ["This is not open to you", /^You are signed in as reader-robot/],
    }));
    expect(
      await visitAll(site, closed, {
        key: strangersKey,
        turn: 1,
        look,
        closeStep: 1,
        mayComplain: /status of 403/,
      }),
    ).toEqual([]);
  });

  it("tell what there is not", async () => {
    const states = missingStates(site.org, "gateway-prod", "gateway-ci");
    const missing = everyNth(visitsOf(states), amount(4, 1));
    expect(await visitAll(site, missing, { turn: 2, look, mayComplain: /status of 40[34]/ })).toEqual([]);
  });

  it("tell what failed, and read it when asked to again", async () => {
    expect(
      await visitAll(site, everyNth(reading(), amount(6, 1), 1), {
        turn: 3,
        look: lookFailed,
        closeStep: 1,
        mayComplain: /status of 500/,
      }),
    ).toEqual([]);
  });

  it.each([
    [503, 1],
    [429, 6],
  ])(
    "count down how long a %i wants to be left alone, and read again by themselves",
    async (status, first) => {
      const some = everyNth(reading(), amount(16, 8), first);
      const lookAt = (visitor: Visitor, visit: Visit): Promise<string[]> =>
        lookAtCountdown(visitor, visit, status);
      expect(
        await visitAll(site, some, {
          turn: 0,
          look: lookAt,
          closeStep: 1,
          mayComplain: new RegExp(`status of ${status}`),
        }),
      ).toEqual([]);
    },
  );

  it("lead from the name that an environment had to its records in the archive", async () => {
    const { name, ask } = strangers;
    const former = uniqueName("former");
    for (const one of [former, `my-${former}`]) {
      await ask("PUT", `/environments/${name}`, { name: one, type: "docker", description: "" });
      await ask("PUT", `/environments/${name}/${one}/archive`);
    }
    const { page } = await site.open();
    for (const part of ["", "/log", "/snapshots/latest"]) {
      await page.goto(`/${name}/environments/${former}${part}`);
      await page.getByRole("heading", { name: `${former} was archived` }).waitFor();
    }
    const records = page.getByRole("link", { name: /-archived-at-\d+$/ });
    await records.first().waitFor();
    expect(await records.count()).toBe(1);
    await page.getByRole("link", { name: new RegExp(`^${former}-archived-at-\\d+$`) }).click();
    await page
      .getByText(/^archived /)
      .first()
      .waitFor();
    const heading = page.getByRole("heading", { level: 1, name: new RegExp(`^${former}-archived-at-\\d+$`) });
    await expect.poll(() => heading.count(), { timeout: 30_000 }).toBe(1);
  });

  it("offer to search for what is not there", async () => {
    const { page } = await site.open();
    await page.goto(`/${site.org}/flows/gateway-c`);
    await page.getByRole("button", { name: "Search for it" }).click();
    await page
      .getByRole("option", { name: /^gateway-ci/ })
      .first()
      .click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/${site.org}/flows/gateway-ci`);
  });

  it("say that a search failed, and search when asked to again", async () => {
    const { page } = await site.open();
    await page.goto(`/${site.org}/flows`);
    await page.getByRole("heading", { level: 1, name: "Flows" }).waitFor();
    let isBroken = true;
    // Stays in between: taking a handler away while requests arrive may lose some.
    await page.route(/\/api\/v2\/search\//, (route) =>
      isBroken ? route.fulfill({ status: 500, json: { message: "Broken" } }) : route.continue(),
    );
    await page.keyboard.press("/");
    await page.getByRole("combobox").fill("gateway-ci");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The search failed").waitFor();
    expect(await dialog.getByText("Nothing is called like that.").count()).toBe(0);
    isBroken = false;
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog
      .getByRole("option", { name: /^gateway-ci/ })
      .first()
      .waitFor();
    expect(await dialog.getByText("The search failed").count()).toBe(0);
  });

  it("keep the frame when a part of the app does not arrive, and fetch it once the server is there", async () => {
    const { page, context } = await site.open();
    // A page of which requests are looked at does without what the browser has kept of earlier ones.
    await page.route(/\/-\/assets\//, (route) => route.continue());
    await page.goto(`/${site.org}/settings/general`);
    await page.getByLabel("Display name").waitFor();
    await context.setOffline(true);
    await page.getByText("This machine is offline").waitFor();
    await page.getByRole("link", { name: "Spaces", exact: true }).click();
    await page.getByText("A part of the app has not arrived").waitFor();
    await page.getByRole("link", { name: "Settings", exact: true }).waitFor();
    await context.setOffline(false);
    const heading = page.getByRole("heading", { level: 1, name: "Spaces" });
    await expect.poll(() => heading.count(), { timeout: 30_000 }).toBe(1);
  });

  it.each([
    ["Answers", (page: Page) => page.getByRole("button", { name: "JSON" }).click()],
    ["KeysHelp", (page: Page) => page.keyboard.press("?")],
    ["SearchPalette", (page: Page) => page.keyboard.press("/")],
  ])("keep what is written when %s is gone since an upgrade", async (part, open) => {
    const { page } = await site.open();
    const gone = new RegExp(String.raw`/-/assets/${part}-.*\.js$`);
    await page.route(gone, (route) => route.fulfill({ status: 404, body: "" }));
    await page.goto(`/${site.org}/policies/-/new`);
    const editor = page.getByRole("textbox", { name: "Text of the policy, YAML" });
    await page.locator(".cm-editor").waitFor();
    await editor.press("Control+Home");
    await page.keyboard.type("# Mine\n");
    await page.getByRole("heading", { level: 1 }).click();
    await open(page);
    const dialog = page.getByRole("dialog", { name: "This did not arrive" });
    await dialog.getByText("The server was upgraded, or is away").waitFor();
    await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
    await dialog.waitFor({ state: "detached" });
    expect(await editor.innerText()).toContain("# Mine");
    await page.getByRole("link", { name: "Spaces", exact: true }).click();
    await page.getByRole("dialog", { name: "Leave without saving?" }).waitFor();
  });

  it("ask those who are not signed in to do that, and return to the address", async () => {
    const { page } = await site.open({ key: null });
    await page.goto(`/${site.org}/trails?state=NON-COMPLIANT`);
    await page.getByRole("heading", { name: "Sign in to see this" }).waitFor();
    await page.locator("main").getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("API key").fill(site.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("table", { name: "Trails" }).getByRole("link").first().waitFor();
    expect(new URL(page.url()).search).toBe("?state=NON-COMPLIANT");
  });
});
