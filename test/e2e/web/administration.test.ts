import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { ask } from "../../support/site.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { holdAnswers } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("administration", { timeout: 60_000 }, () => {
  let site: WebSite;
  let readerKey: string;
  beforeAll(async () => {
    site = await openSite();
    const keys = `/service-accounts/${site.org}/dashboard/api-keys`;
    readerKey = (await ask(site, "POST", keys, { description: "a test's" })).key;
  }, 180_000);

  describe("the audit log", () => {
    it("shows who did what, filtered by what a row says, also after a reload, and as CSV", async () => {
      const { page, complaints } = await site.open();
      await page.goto(`/${site.org}/audit-log`);
      const rows = page.getByRole("table", { name: "Writes" }).locator("tbody tr[data-row]");
      await rows.first().waitFor();
      await page.getByRole("button", { name: "create_service_account_api_key" }).first().click();
      await page.getByText("did: create_service_account_api_key").waitFor();
      await page.reload();
      await rows.first().waitFor();
      expect(new URL(page.url()).search).toBe("?action=create_service_account_api_key");
      await page.getByRole("button", { name: "Export" }).click();
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "CSV" }).click(),
      ]);
      expect(file.suggestedFilename()).toContain("audit-log");
      const text = await (await file.createReadStream()).setEncoding("utf8").toArray();
      const lines = text.join("").trim().split("\r\n");
      expect(lines.length).toBe(1 + (await rows.count()));
      expect(lines.slice(1).every((line) => line.includes("create_service_account_api_key"))).toBe(true);
      await page.getByRole("button", { name: "Any did" }).click();
      await page.getByRole("link", { name: "Members and roles" }).click();
      await page.getByLabel("Role", { exact: true }).selectOption("snapshotter");
      await page.getByText(`${site.org}.dana`).waitFor();
      await page.getByLabel("from", { exact: true }).fill("2001-01-01");
      await page.getByLabel("to", { exact: true }).fill("2001-01-02");
      await page.getByText("No entry matches").waitFor();
      await page.getByRole("button", { name: "Clear the filters" }).click();
      await page.getByText(`${site.org}.dana`).waitFor();
      expect(complaints).toEqual([]);
    });

    it("is for administrators", async () => {
      const { page } = await site.open({ key: readerKey });
      await page.goto(`/${site.org}/audit-log`);
      await page.getByText("This is not open to you").waitFor();
      expect(await page.getByRole("button", { name: "Export" }).getAttribute("aria-disabled")).toBe("true");
    });
  });

  describe("settings", () => {
    it("change what the organization is called", async () => {
      const { page, complaints } = await site.open();
      await page.goto(`/${site.org}/settings`);
      const description = `Sells lamps, and ${uniqueName("lanterns")}`;
      await page.getByLabel("Description").fill(description);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved", { exact: true }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/${site.org}/settings/general`);
      await page.reload();
      await page.getByText(description).waitFor();
      expect(complaints).toEqual([]);
    });

    it("change roles, and say whom the server keeps", async () => {
      const { page } = await site.open();
      const members = await fetch(`${site.url}/api/v2/members/${site.org}`, {
        headers: { authorization: `Bearer ${site.key}` },
      });
      const all = (await members.json()) as { user: string; role: string }[];
      const name = all.find(({ role }) => role === "member")!.user;
      await page.goto(`/${site.org}/settings/members?q=${name}`);
      await page.getByRole("button", { name: `Change the role of ${name}` }).click();
      await page.getByRole("dialog").getByLabel("Role", { exact: true }).selectOption("reader");
      await page.getByRole("button", { name: "Change the role", exact: true }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("cell", { name: "reader" }).waitFor();
      await page.getByRole("button", { name: "Add a member" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("nobody-like-that");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      expect(await page.getByRole("dialog").getByRole("alert").innerText()).toContain("nobody-like-that");
    });

    it("add nobody who is a member already, also not since it was looked at", async () => {
      const org = await makeOrganization(site, "members");
      const membersOf = (name: string) => ask(site, "GET", `/members/${name}`) as Promise<{ user: string }[]>;
      const [admin] = await membersOf(org.name);
      const other = (await membersOf(site.org)).find(({ user }) => user !== admin!.user)!.user;
      const { page } = await site.open();
      // This page is not told of what others do.
      await page.route(/\/api\/v2\/changes\//, (route) => route.abort());
      const release = await holdAnswers(page, /\/api\/v2\/members\/[^/]+$/);
      await page.goto(`/${org.name}/settings/members`);
      await page.getByRole("button", { name: "Add a member", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Add a member" });
      const name = dialog.getByLabel("Name");
      await name.fill(admin!.user);
      await dialog.getByRole("button", { name: "Add (It is not known yet who is a member)" }).waitFor();
      await name.press("Enter");
      release();
      const words = `${admin!.user} is a member already, as admin`;
      await dialog.getByRole("button", { name: `Add (${words})` }).waitFor();
      await dialog.getByRole("status").getByText(words).waitFor();
      await name.press("Enter");

      await name.fill(other);
      const add = dialog.getByRole("button", { name: "Add", exact: true });
      await add.waitFor();
      await org.ask("PUT", `/members/${org.name}/${other}`, { role: "admin" });
      await add.click();
      await dialog.getByRole("alert").getByText(`${other} is a member already, as admin`).waitFor();
      const expected = [admin!.user, other].map((user) => expect.objectContaining({ user, role: "admin" }));
      expect(await membersOf(org.name)).toEqual(expect.arrayContaining(expected));
    });

    it("show the link of an invitation once", async () => {
      const { page, complaints } = await site.open();
      await page.goto(`/${site.org}/settings/members`);
      await page.getByRole("button", { name: "Invite", exact: true }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("somebody-new");
      await page.getByRole("button", { name: "Make the link" }).click();
      const link = await page.getByLabel("invitation", { exact: true }).innerText();
      expect(link).toContain("/-/invitation#");
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Take back the invitation of somebody-new" }).click();
      expect(await page.content()).not.toContain(link.trim());
      await page.getByRole("button", { name: "Take back", exact: true }).click();
      await page.getByText("No invitation is open").waitFor();
      expect(complaints).toEqual([]);
    });

    it("make, rotate and revoke keys of service accounts", async () => {
      const account = uniqueName("scanner");
      const { page, complaints } = await site.open();
      await page.goto(`/${site.org}/settings/service-accounts`);
      await page.getByRole("button", { name: "New service account" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill(account);
      await page.getByRole("button", { name: "Make the account" }).click();
      await page.getByRole("button", { name: `Keys of ${account}` }).click();
      await page.getByText("It has no key").waitFor();
      expect(new URL(page.url()).search).toBe(`?open=${account}`);
      await page.getByRole("button", { name: "New key" }).click();
      await page.getByLabel("What it is for").fill("nightly scan");
      await page.getByRole("button", { name: "Make the key" }).click();
      const first = (await page.getByLabel("API key", { exact: true }).innerText()).trim();
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Rotate", exact: true }).click();
      await page.getByRole("button", { name: "Rotate the key" }).click();
      const second = (await page.getByLabel("API key", { exact: true }).innerText()).trim();
      expect(second).not.toBe(first);
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByText("the former secret ends").waitFor();
      const works = async (key: string): Promise<number> => {
        const headers = { authorization: `Bearer ${key}` };
        return (await fetch(`${site.url}/api/v2/environments/${site.org}?per_page=1`, { headers })).status;
      };
      expect([await works(first), await works(second)]).toEqual([200, 200]);
      await page.getByRole("button", { name: "Revoke", exact: true }).click();
      await page.getByRole("button", { name: "Revoke the key" }).click();
      await page.getByText("It has no key").waitFor();
      expect([await works(first), await works(second)]).toEqual([401, 401]);
      expect(complaints).toEqual([]);
    });

    it("let readers look, and say why they may not act", async () => {
      const { page } = await site.open({ key: readerKey });
      await page.goto(`/${site.org}/settings/members`);
      await page.getByText("Administrators see who is invited").waitFor();
      const button = page.getByRole("button", { name: "Add a member (You are reader here" });
      await button.waitFor();
      expect(await button.getAttribute("aria-disabled")).toBe("true");
      await page.goto(`/${site.org}/settings/service-accounts?open=pipeline`);
      await page.getByText("Reports what is built").waitFor();
      expect(await page.getByText("Keys of pipeline", { exact: true }).count()).toBe(0);
    });
  });
});
