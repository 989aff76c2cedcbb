import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { ask } from "../../support/site.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { holdAnswers, tab } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("actions, integrations and spaces", { timeout: 60_000 }, () => {
  let site: WebSite;
  let readerKey: string;
  beforeAll(async () => {
    site = await openSite();
    const keys = `/service-accounts/${site.org}/dashboard/api-keys`;
    readerKey = (await ask(site, "POST", keys, { description: "a test's" })).key;
  }, 180_000);

  it("make, change and delete an action", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/actions/-/new`);
    await page.getByLabel("Name", { exact: true }).fill("wake-up");
    // Until the caller's role is known that is the reason.
    await expect
      .poll(() => page.getByRole("button", { name: "Make the action" }).getAttribute("title"))
      .toContain("environment");
    await page.getByLabel("Environment", { exact: true }).fill("gateway-prod");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByLabel("its reporter falls silent").check();
    await page.getByLabel("Webhook address").fill("https://hooks.harborlight.example/T1/secret");
    await page.getByRole("button", { name: "Make the action" }).click();
    await page.getByRole("link", { name: "wake-up" }).click();
    await page.getByText("Nothing was sent yet").waitFor();
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByLabel("an artifact starts").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("an artifact starts, its reporter falls silent").waitFor();
    expect(await page.content()).not.toContain("T1/secret");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete the action" }).click();
    await page.getByRole("table", { name: "Actions" }).waitFor();
    await page.getByRole("link", { name: "wake-up" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("keep what is written of an action on its way through the page, and ask before it is left", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/actions/-/new`);
    const name = page.getByLabel("Name", { exact: true });
    const environment = page.getByLabel("Environment", { exact: true });
    const spaces = page.getByRole("link", { name: "Spaces", exact: true });
    const stay = page.getByRole("button", { name: "Stay" });
    await name.fill("kept");
    await environment.fill("gateway-prod");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await environment.fill("shop-prod");
    await page.getByLabel("its reporter falls silent").check();
    await page.getByLabel("Webhook address").fill("https://hooks.harborlight.example/T1/secret");
    await page.getByRole("button", { name: "Make the action (Add shop-prod or remove it)" }).waitFor();
    await tab(page, "On flows").click();
    await page.getByLabel("Flow", { exact: true }).waitFor();
    expect(await name.inputValue()).toBe("kept");
    await tab(page, "On environments").click();
    await page.getByRole("button", { name: "Without gateway-prod" }).waitFor();
    expect(await environment.inputValue()).toBe("shop-prod");
    expect(await page.getByLabel("its reporter falls silent").isChecked()).toBe(true);
    await spaces.click();
    await stay.click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("table", { name: "Actions" }).waitFor();

    await page.goto(`/${site.org}/actions/1`);
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await name.fill("other");
    await page.goBack();
    await stay.click();
    await spaces.click();
    await stay.click();
    expect(await name.inputValue()).toBe("other");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Change", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("show what an action sent, and send it again", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/actions/1`);
    await page
      .getByRole("button", { name: /^Payload of/ })
      .first()
      .click();
    await page.getByLabel("payload", { exact: true }).waitFor();
    await page.reload();
    await page.getByLabel("payload", { exact: true }).waitFor();
    await page
      .getByRole("button", { name: /^Replay/ })
      .first()
      .click();
    await page.getByText("delivered again").first().waitFor();
    await page.getByLabel("Status").selectOption("cancelled");
    await page.getByText("No delivery matches").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByText("delivered again").first().waitFor();
    expect(requests.filter((one) => one.startsWith("POST")).length).toBe(1);
    expect(complaints).toEqual([]);
    await page.goto(`/${site.org}/actions/4711`);
    await page.getByText("Action '4711' does not exist").waitFor();
  });

  it("show the signing secret only when asked, and forget it", async () => {
    const { page, requests } = await site.open();
    await page.goto(`/${site.org}/actions`);
    await page.getByRole("button", { name: "Signing secret" }).click();
    await page.getByRole("dialog").waitFor();
    expect(requests.some((one) => one.includes("signing-secret"))).toBe(false);
    await page.getByRole("button", { name: "Show it" }).click();
    expect(await page.getByLabel("signing secret", { exact: true }).innerText()).toContain("whsec_");
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Signing secret" }).click();
    await page.getByRole("button", { name: "Show it" }).waitFor();
    expect(await page.content()).not.toContain("whsec_");
  });

  it("replace the quality webhook's secret, and process a delivery again", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/integrations?status=processed`);
    await page
      .getByRole("button", { name: /^Replay/ })
      .first()
      .click();
    await page.getByText("Processed again").waitFor();
    await page.getByText("again", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Replace the secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Replace the secret" }).click();
    const secret = (await page.getByLabel("webhook secret", { exact: true }).innerText()).trim();
    expect(secret.length).toBeGreaterThan(20);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
  });

  it("move a space by keyboard and by drag, undo that, and lead to what is in it", async () => {
    const { page, complaints } = await site.open();
    type Space = { id: string; name: string; parent_id: string | null };
    const allSpaces = (): Promise<Space[]> => ask(site, "GET", `/spaces/${site.org}`);
    const parentOf = async (name: string): Promise<string | undefined> => {
      const spaces = await allSpaces();
      const { parent_id } = spaces.find((space) => space.name === name)!;
      return spaces.find(({ id }) => id === parent_id)?.name;
    };
    const idOf = async (name: string): Promise<string> =>
      (await allSpaces()).find((space) => space.name === name)!.id;
    // Where it is at first, whatever a try before this one did.
    await ask(site, "PATCH", `/spaces/${site.org}/${await idOf("Mobile")}`, {
      parent_id: await idOf("Engineering"),
    });
    await page.goto(`/${site.org}/spaces`);
    const tree = page.getByRole("navigation", { name: "Spaces" });
    await page.getByRole("button", { name: "What to do with Mobile" }).press("Enter");
    await page.getByRole("button", { name: "Move", exact: true }).press("Enter");
    await page.getByLabel("Into").selectOption({ label: "Operations" });
    await page.getByRole("dialog").getByRole("button", { name: "Move" }).press("Enter");
    await page.getByText("Mobile is in Operations").waitFor();
    expect(await parentOf("Mobile")).toBe("Operations");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Mobile is in").waitFor({ state: "detached" });
    expect(await parentOf("Mobile")).toBe("Engineering");
    await tree.getByRole("link", { name: "Mobile" }).dragTo(tree.getByRole("link", { name: "Back office" }));
    await page.getByText("Mobile is in Back office").waitFor();
    expect(await parentOf("Mobile")).toBe("Back office");
    await tree.getByRole("link", { name: "Operations" }).click();
    const all = page.getByRole("link", { name: /environments?$/ });
    await page.waitForURL(/space=/);
    await all.click();
    await page.waitForURL(/environments\?space_id=/);
    await page.getByRole("table", { name: "Environments" }).waitFor();
    expect(complaints).toEqual([]);
  });

  describe("a space", () => {
    const environmentsOfSpaces = /\/api\/v2\/environments\/.*[?&]space_id=/;
    let own: OwnOrganization;
    let space: string;
    beforeAll(async () => {
      own = await makeOrganization(site, "spaces");
      space = (await own.ask<{ id: string }>("POST", `/spaces/${own.name}`, { name: "Payments" })).id;
      // Enough that the page of all is longer than a window, and that of the space is not.
      for (let at = 1; at <= 20; at += 1)
        await own.ask("PUT", `/flows/${own.name}`, { name: `flow-${at}`, description: "" });
      await own.ask("PATCH", `/flows/${own.name}/flow-1`, { space_id: space });
    });

    it("shows nothing of the one before while it is waited for, and stays where it was chosen", async () => {
      const { page, complaints } = await site.open({ viewport: { width: 360, height: 640 } });
      await page.goto(`/${own.name}/spaces`);
      await page.getByRole("link", { name: "flow-2", exact: true }).waitFor();
      await page.evaluate("scrollTo(0, 150)");
      const release = await holdAnswers(page, environmentsOfSpaces);
      const chosen = page.getByRole("link", { name: "Payments" });
      const placeBefore = await chosen.boundingBox();
      const flowsAnswered = page.waitForResponse(/\/api\/v2\/flows\/.*[?&]space_id=/);
      await chosen.click();
      await flowsAnswered;
      await page.locator('main [aria-busy="true"]').waitFor();
      expect(await page.getByRole("region", { name: /^(?:Environments|Flows)$/ }).count()).toBe(0);
      expect(await chosen.boundingBox()).toEqual(placeBefore);
      release();
      const flows = page.getByRole("region", { name: "Flows" });
      await flows.waitFor();
      expect(await flows.getByRole("listitem").allInnerTexts()).toEqual([expect.stringContaining("flow-1")]);
      expect(complaints).toEqual([]);
    });

    it("is told of a move in its own organization only, in which it can be undone", async () => {
      const { page, complaints } = await site.open();
      await page.goto(`/${own.name}/spaces`);
      await page.getByRole("button", { name: "Move flow-2", exact: true }).click();
      await page.getByLabel("Into").selectOption({ label: "Payments" });
      await page.getByRole("dialog").getByRole("button", { name: "Move" }).click();
      await page.getByText("flow-2 is in Payments").waitFor();
      // As back and forward do, which lead from any page to any other.
      await page.evaluate(`history.pushState({}, "", "/${site.org}/spaces")`);
      await page.getByRole("link", { name: "Engineering" }).first().waitFor();
      expect(await page.getByText("flow-2 is in").count()).toBe(0);
      await own.ask("PATCH", `/flows/${own.name}/flow-2`, { space_id: null });
      expect(complaints).toEqual([]);
    });

    it("is told of a move that fails after another was begun, until something is moved after both", async () => {
      const { page } = await site.open();
      const name = uniqueName("brief");
      const { id } = await own.ask<{ id: string }>("POST", `/spaces/${own.name}`, { name });
      const release = await holdAnswers(page, new RegExp(`/api/v2/flows/${own.name}/flow-3$`));
      await page.goto(`/${own.name}/spaces`);
      const move = async (flow: string, into: string): Promise<void> => {
        await page.getByRole("button", { name: `Move ${flow}`, exact: true }).click();
        await page.getByLabel("Into").selectOption({ label: into });
        await page.getByRole("dialog").getByRole("button", { name: "Move" }).click();
      };
      await move("flow-3", name);
      await move("flow-4", "Payments");
      await page.getByText("flow-4 is in Payments").waitFor();
      await own.ask("DELETE", `/spaces/${own.name}/${id}`);
      release();
      const refused = page.getByRole("alert").filter({ hasText: "flow-3 was not moved" });
      await refused.getByText(/Space does not exist/).waitFor();
      await move("flow-5", "Payments");
      await page.getByText("flow-5 is in Payments").waitFor();
      expect(await refused.count()).toBe(0);
      for (const flow of ["flow-4", "flow-5"])
        await own.ask("PATCH", `/flows/${own.name}/${flow}`, { space_id: null });
    });

    it("shows its flows below environments that failed, and again once it is known how many these are", async () => {
      const { page } = await site.open();
      const release = await holdAnswers(page, environmentsOfSpaces);
      const failed = { status: 500, json: { message: "Internal error" } };
      let isFailing = true;
      await page.route(environmentsOfSpaces, (route) =>
        isFailing ? route.fulfill(failed) : route.fallback(),
      );
      await page.goto(`/${own.name}/spaces?space=${space}`);
      const flows = page.getByRole("region", { name: "Flows" });
      await flows.getByRole("link", { name: "flow-1" }).waitFor();
      isFailing = false;
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator('main [aria-busy="true"]').waitFor();
      expect(await flows.count()).toBe(0);
      release();
      await page.getByRole("region", { name: "Environments" }).waitFor();
      await flows.getByRole("link", { name: "flow-1" }).waitFor();
    });
  });

  it("say to readers why they may not", async () => {
    const { page } = await site.open({ key: readerKey });
    await page.goto(`/${site.org}/actions`);
    await page.getByRole("button", { name: "New action (You are reader here; this needs member" }).waitFor();
    await page.goto(`/${site.org}/actions/1`);
    await page.getByText("Deliveries are for members").waitFor();
    await page.goto(`/${site.org}/spaces`);
    await page.getByRole("button", { name: "New space (You are reader here; this needs admin" }).waitFor();
    await page.goto(`/${site.org}/integrations`);
    expect(await page.getByText("This is not open to you").innerText()).not.toBe("");
  });
});
