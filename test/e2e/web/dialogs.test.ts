import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { holdAnswers } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("a dialog", { timeout: 60_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  let account: string;
  beforeAll(async () => {
    site = await openSite();
    own = await makeOrganization(site, "dialogs");
  }, 180_000);
  beforeEach(async () => {
    account = uniqueName("pipeline");
    await own.ask("POST", `/service-accounts/${own.name}`, { name: account, privilege: "member" });
    const keys = `/service-accounts/${own.name}/${account}/api-keys`;
    await own.ask("POST", keys, { description: "for the pipeline" });
  });

  const openKeys = async (page: Page): Promise<void> => {
    await page.goto(`/${own.name}/settings/service-accounts`);
    await page.getByRole("button", { name: `Keys of ${account}` }).click();
    await page.getByText("for the pipeline").waitFor();
  };
  const rotate = async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    await page.getByRole("button", { name: "Rotate the key" }).click();
  };
  const secret = (page: Page) => page.getByRole("dialog", { name: "The new secret" });

  it("stays while what it asked for is under way, and shows the secret that comes of it", async () => {
    const { page, complaints } = await site.open();
    await openKeys(page);
    const release = await holdAnswers(page, /\/rotate$/);
    await rotate(page);
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Cancel" }).and(page.getByTitle("Under way")).waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.mouse.click(3, 3);
    await dialog.getByLabel("The key works").selectOption({ index: 1 });
    release();
    await secret(page).waitFor();
    expect(complaints).toEqual([]);
  });

  it("stays when text in it is selected and let go of beside it, and is closed by a click there", async () => {
    const { page } = await site.open();
    await openKeys(page);
    await rotate(page);
    const text = (await secret(page).getByLabel("API key", { exact: true }).boundingBox())!;
    await page.mouse.move(text.x + 20, text.y + text.height / 2);
    await page.mouse.down();
    await page.mouse.move(3, text.y + text.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(await secret(page).isVisible()).toBe(true);
    await page.mouse.click(3, 3);
    await secret(page).waitFor({ state: "detached" });
  });

  it("copies a secret where browsers give pages no clipboard, as on plain http", async () => {
    const { page, complaints } = await site.open();
    await page.addInitScript("delete Navigator.prototype.clipboard");
    await openKeys(page);
    await rotate(page);
    const shown = await secret(page).getByLabel("API key", { exact: true }).innerText();
    await secret(page).getByRole("button", { name: "Copy API key" }).click();
    await secret(page).getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    const field = page.getByRole("dialog").getByRole("textbox").first();
    await field.press("Control+V");
    expect(await field.inputValue()).toBe(shown.trim());
    expect(complaints).toEqual([]);
  });

  it("takes the words of a reason as they are typed", async () => {
    const { page } = await site.open();
    await own.ask("PUT", `/environments/${own.name}`, { name: "dock", type: "docker", description: "" });
    await page.goto(`/${own.name}/environments/dock/allow-list`);
    await page.getByRole("button", { name: "Allow an artifact" }).click();
    const reason = page.getByRole("dialog").getByLabel("Why it is trusted");
    await reason.pressSequentially("Read and approved");
    expect(await reason.inputValue()).toBe("Read and approved");
    // A click beside it loses none of them; who presses Esc means it.
    await page.mouse.click(3, 3);
    expect(await reason.inputValue()).toBe("Read and approved");
    await page.keyboard.press("Escape");
    await reason.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Allow an artifact" }).click();
    await reason.waitFor();
    await page.mouse.click(3, 3);
    await reason.waitFor({ state: "detached" });
  });
});

describe.skipIf(!hasBrowser)("a list whose rows can be acted on", { timeout: 60_000 }, () => {
  it("ends one session at a time, so that no refusal is lost", async () => {
    const site = await openSite();
    const { page } = await site.open();
    const others = await Promise.all([site.open(), site.open()]);
    const release = await holdAnswers(page, /\/user\/sessions\/[^/]+$/);
    await page.goto("/-/profile");
    const ends = page.getByRole("button", { name: /^End(?: \(|$)/ });
    await ends.nth(1).waitFor();
    const count = await ends.count();
    await ends.first().click();
    await expect.poll(() => page.getByTitle("Under way").count()).toBe(count);
    release();
    await expect.poll(() => page.getByTitle("Under way").count(), { timeout: 30_000 }).toBe(0);
    expect(others.length).toBe(2);
  });
});
