import { beforeAll, describe, expect, it } from "vitest";

import { inaccessible } from "../../support/axe.ts";
import { hasBrowser } from "../../support/browser.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("rules for keys and addresses", { timeout: 120_000 }, () => {
  let site: WebSite;
  const org = "guarded";
  beforeAll(async () => {
    site = { ...(await openSite()), org };
    await send("POST", "/organizations", { name: org });
    await send("POST", `/service-accounts/${org}`, { name: "pipeline", privilege: "member" });
    const keys = `/service-accounts/${org}/pipeline/api-keys`;
    await send("POST", keys, {
      description: "deploys",
      role: "snapshotter",
      allowed_addresses: ["127.0.0.0/8", "::1"],
    });
    const expires_at = Math.floor(Date.now() / 1000) + 10 * 86_400;
    await send("POST", keys, { description: "nightly", expires_at });
  }, 300_000);

  async function send(method: string, path: string, body: unknown): Promise<void> {
    const answer = await fetch(`${site.url}/api/v2${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${site.key}`, "content-type": "application/json" },
    });
    expect(answer.status, await answer.text()).toBeLessThan(300);
  }

  it("are set on a page, which says what is wrong with them and which keys end", async () => {
    const { page, context, complaints } = await site.open();
    await page.goto(`/${org}/settings/security`);
    await page.getByRole("cell", { name: /nightly/ }).waitFor();
    await page.getByLabel("Oldest service account key, in days").fill("90");
    await page.getByLabel("Addresses they come from").fill("10.0.0.0/8\nnowhere");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Input should be a network in CIDR notation [input: nowhere]").first().waitFor();
    await page.getByLabel("Addresses they come from").fill("10.0.0.0/8");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByText(/Your own address .* should be in one of the networks/)
      .first()
      .waitFor();
    await page.getByLabel("Addresses they come from").fill("10.0.0.0/8 127.0.0.0/8\n::1");
    await page.getByLabel("Keys must have an end").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.getByText(/The rules became stricter/).waitFor();
    await page.getByRole("cell", { name: /deploys/ }).waitFor();
    await page.reload();
    await page.getByText(/The rules became stricter/).waitFor();
    expect(await page.getByLabel("Addresses they come from").inputValue()).toBe(
      "10.0.0.0/8\n127.0.0.0/8\n::1/128",
    );
    expect(complaints.filter((text) => !text.includes(" 400 "))).toEqual([]);
    await context.close();
  });

  it("are not saved over what somebody else has saved meanwhile, unless one says so", async () => {
    const here = uniqueName("overtaken");
    await send("POST", "/organizations", { name: here });
    const { page, complaints } = await site.open({ colorScheme: "dark" });
    await page.goto(`/${here}/settings/security`);
    const warn = page.getByLabel("Tell owners before an end, in days");
    const unused = page.getByLabel("End keys not used for, in days");
    const save = page.getByRole("button", { name: "Save" });
    await unused.fill("30");
    await send("PUT", `/organizations/${here}/security`, {
      warn_days: 7,
      allowed_addresses: ["0.0.0.0/0", "::/0"],
    });
    await save.click();
    const told = page.getByRole("alert").filter({ hasText: "Somebody else has changed these rules since" });
    await told.waitFor();
    expect(await told.getByRole("listitem").allInnerTexts()).toEqual([
      "Tell owners before an end, in days: 7",
      "Addresses they come from: 0.0.0.0/0, ::/0",
    ]);
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await inaccessible(page)).toEqual([]);
    }
    await told.getByRole("button", { name: "Show theirs" }).click();
    await told.waitFor({ state: "detached" });
    expect([await warn.inputValue(), await unused.inputValue()]).toEqual(["7", ""]);
    await unused.fill("60");
    await save.click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(await told.count()).toBe(0);

    await warn.fill("21");
    await send("PUT", `/organizations/${here}/security`, { unused_days: 45 });
    await save.click();
    await told.getByRole("button", { name: /^Keep mine/ }).click();
    await told.waitFor({ state: "detached" });
    expect([await warn.inputValue(), await unused.inputValue()]).toEqual(["21", "60"]);
    await save.click();
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.reload();
    await expect.poll(() => warn.inputValue()).toBe("21");
    expect(await unused.inputValue()).toBe("60");
    expect(complaints.filter((text) => !text.includes(" 409 "))).toEqual([]);
  });

  it("of the installation are set on a page of their own, which leads to no organization's", async () => {
    const { page, context, complaints } = await site.open();
    await page.goto("/-/instance/health");
    await page.getByRole("link", { name: "Security" }).click();
    await page.getByText("No key does by these rules.").waitFor();
    await page.getByText("waybill admin lift-addresses --instance").waitFor();
    const warn = page.getByLabel("Tell owners before an end, in days");
    expect(await warn.inputValue()).toBe("14");
    await page.getByLabel("Addresses they come from").fill("10.0.0.0/8");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByText(/Your own address .* should be in one of the networks/)
      .first()
      .waitFor();
    // What others do at the same time goes on under these.
    await page.getByLabel("Addresses they come from").fill("0.0.0.0/0 ::/0");
    await warn.fill("21");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.reload();
    await expect.poll(() => warn.inputValue()).toBe("21");
    expect(await page.getByLabel("Addresses they come from").inputValue()).toBe("0.0.0.0/0\n::/0");
    await page.getByText("People sign in at the sign-in provider, not with keys").click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("There is no sign-in provider").first().waitFor();
    await send("PUT", "/instance/security", {});
    expect(complaints.filter((text) => !text.includes(" 400 "))).toEqual([]);
    await context.close();
  });

  it("of the installation are for those who run it", async () => {
    const name = uniqueName("guarded-reader");
    await send("POST", `/service-accounts/${org}`, { name, privilege: "admin" });
    const answer = await fetch(`${site.url}/api/v2/service-accounts/${org}/${name}/api-keys`, {
      method: "POST",
      // The organization's rules want an end by now.
      body: JSON.stringify({ description: "x", expires_at: Math.floor(Date.now() / 1000) + 86_400 }),
      headers: { authorization: `Bearer ${site.key}`, "content-type": "application/json" },
    });
    expect(answer.status).toBe(201);
    const { key } = (await answer.json()) as { key: string };
    const { page, context } = await site.open({ key });
    await page.goto("/-/instance/security");
    await page.getByRole("heading", { name: "Instance" }).waitFor();
    await page.getByText("This is not open to you").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await context.close();
  });

  it("are kept by who rotates a key, who chooses when it ends", async () => {
    const here = uniqueName("rotating");
    await send("POST", "/organizations", { name: here });
    await send("POST", `/service-accounts/${here}`, { name: "pipeline", privilege: "member" });
    await send("POST", `/service-accounts/${here}/pipeline/api-keys`, { description: "deploys" });
    const { page, complaints } = await site.open({ colorScheme: "dark" });
    const open = async (): Promise<void> => {
      await page.goto(`/${here}/settings/service-accounts?open=pipeline`);
      await page.getByRole("button", { name: "Rotate", exact: true }).click();
    };
    const dialog = page.getByRole("dialog");
    const works = dialog.getByLabel("The key works");
    const rotate = async (): Promise<void> => {
      await dialog.getByRole("button", { name: "Rotate the key" }).click();
      await page.getByLabel("API key", { exact: true }).waitFor();
    };
    const daysLeft = async (): Promise<number> => {
      const answer = await fetch(`${site.url}/api/v2/service-accounts/${here}/pipeline/api-keys`, {
        headers: { authorization: `Bearer ${site.key}` },
      });
      const [{ expires_at }] = (await answer.json()) as [{ expires_at: number }];
      return expires_at === 0 ? 0 : Math.round((expires_at - Date.now() / 1000) / 86_400);
    };
    await open();
    await expect.poll(() => works.inputValue()).toBe("kept");
    await works.selectOption({ label: "a year" });
    await works.selectOption("kept");
    await rotate();
    expect(await daysLeft()).toBe(0);
    await send("PUT", `/organizations/${here}/security`, {
      require_expiry: true,
      max_key_age_days: { service: 45 },
    });
    await open();
    await expect.poll(() => works.inputValue()).toBe("45");
    expect(await works.locator("option").allInnerTexts()).toEqual([
      "a week",
      "30 days",
      "45 days, the most that rules allow",
    ]);
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await inaccessible(page)).toEqual([]);
    }
    await rotate();
    expect(await daysLeft()).toBe(45);
    await open();
    await expect.poll(() => works.inputValue()).toBe("kept");
    expect(await works.locator("option").first().innerText()).toMatch(/^until \d{4}-.*, as before$/);
    await works.selectOption("30");
    await rotate();
    expect(await daysLeft()).toBe(30);
    // A new key is offered what rules allow, too.
    await page.goto(`/${here}/settings/service-accounts?open=pipeline`);
    await page.getByRole("button", { name: "New key" }).click();
    await expect.poll(() => dialog.getByLabel("It works", { exact: true }).inputValue()).toBe("45");
    await dialog.getByLabel("What it is for").fill("releases");
    await dialog.getByRole("button", { name: "Make the key" }).click();
    await page.getByLabel("API key", { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("show at each key what it is for and when it ends", async () => {
    const { page, context } = await site.open();
    await page.goto(`/${org}/settings/service-accounts?open=pipeline`);
    await page.getByText("at most snapshotter, from 127.0.0.0/8 and 1 more").waitFor();
    await page.getByText("by rules").first().waitFor();
    const made = page.getByText("at most reader, from 127.0.0.1/32");
    const before = await made.count();
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("What it is for").fill("reads");
    await dialog.getByLabel("It may").selectOption("reader");
    await dialog.getByLabel("It works from").fill("there");
    await dialog.getByRole("button", { name: "Make the key" }).click();
    await dialog.getByText("Input should be a network in CIDR notation [input: there]").first().waitFor();
    await dialog.getByLabel("It works from").fill("127.0.0.1");
    await dialog.getByRole("button", { name: "Make the key" }).click();
    await page.getByLabel("API key", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => made.count()).toBe(before + 1);
    await context.close();
  });
});
