import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { holdAnswers, tab, unlessFree } from "../../support/web-page.ts";
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
  });

  it("asks before what was filled in is lost, by whatever closes it but Cancel, and not once it says what it said at first", async () => {
    await own.ask("PUT", `/environments/${own.name}`, { name: "dock", type: "docker", description: "" });
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments/dock/settings`);
    await tab(page, "Allow-list").click();
    const open = page.getByRole("button", { name: "Allow an artifact" });
    const form = page.getByRole("dialog", { name: "Allow" });
    const reason = form.getByLabel("Why it is trusted");
    const stay = page.getByRole("button", { name: "Stay" });
    const beside = (): Promise<void> => page.mouse.click(3, 3);
    const ways = [
      () => page.keyboard.press("Escape"),
      beside,
      () => form.getByRole("button", { name: "Close" }).click(),
      () => page.goBack(),
    ];
    for (const close of ways.slice(0, 3)) {
      await open.click();
      await reason.waitFor();
      await close();
      await form.waitFor({ state: "detached" });
    }
    await open.click();
    await reason.pressSequentially("Read and approved");
    for (const close of ways) {
      await close();
      await stay.click();
      await stay.waitFor({ state: "detached" });
      expect(await reason.inputValue()).toBe("Read and approved");
    }
    // However often: the browser would close both at once.
    for (let time = 0; time < 4; time += 1) await page.keyboard.press("Escape");
    expect(await reason.inputValue()).toBe("Read and approved");
    await reason.fill("");
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });

    await open.click();
    await reason.fill("Not meant");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Close it" }).click();
    await form.waitFor({ state: "detached" });
    await page.locator("button:focus", { hasText: "Allow an artifact" }).waitFor();
    await open.click();
    expect(await reason.inputValue()).toBe("");
    await reason.fill("Not meant either");
    await form.getByRole("button", { name: "Cancel" }).click();
    await form.waitFor({ state: "detached" });

    await open.click();
    await reason.fill("Left");
    await page.goBack();
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL(/\/settings$/);
    expect(complaints).toEqual([]);
  });

  it("asks once where what is written on its page would be lost with it, and not for what it has sent", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/policies`);
    await page.getByRole("link", { name: "New policy" }).first().click();
    await page.getByText("A policy without mistakes").waitFor();
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByRole("button", { name: "Add the rule" }).click();
    await page.getByRole("button", { name: "Save…", exact: true }).click();
    const form = page.getByRole("dialog", { name: "Save the policy" });
    await form.getByLabel("Name").fill("asked");
    await form.getByLabel("Comment").fill("First");
    await page.goBack();
    await page.getByRole("button", { name: "Stay" }).click();
    await form.getByRole("button", { name: "Save as a new policy" }).click();
    await page.getByRole("heading", { name: "asked", level: 1 }).waitFor();
    await page.goBack();
    await page.getByText("A policy without mistakes").waitFor();
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByRole("button", { name: "Add the rule" }).click();
    await page.getByRole("button", { name: "Save…", exact: true }).click();
    await form.getByLabel("Name").fill("lost");
    await page.goBack();
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL(/\/policies$/);
    expect(unlessFree(complaints)).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("a list whose rows can be acted on", { timeout: 60_000 }, () => {
  it("ends one session at a time, so that no refusal is lost", async () => {
    const site = await openSite();
    // Somebody of its own: the sessions of others are those of tests that run beside this one.
    const key = await (await makeOrganization(site, "web-sessions")).keyFor("member");
    const { page } = await site.open({ key });
    const others = await Promise.all([site.open({ key }), site.open({ key })]);
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
