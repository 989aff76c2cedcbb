import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { holdAnswers, provenancePolicy, writeInEditor } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));

/** What a browser says of every refused request, which some pages are about. */
const unrefused = (complaints: readonly string[]): string[] =>
  complaints.filter((complaint) => !/status of 40[04]/.test(complaint));

const write = (page: Page, text: string) => writeInEditor(page, "Text of the policy, YAML", text);

/** Chooses an environment of the dialog that is open, once those of other names have left the list: until then it moves. */
async function chooseEnvironment(page: Page, name: string): Promise<void> {
  const found = page.waitForResponse((response) => response.url().includes(`?name=${name}&`));
  await page.getByRole("searchbox", { name: "Find environments by name" }).fill(name);
  await found;
  const others = page.getByRole("checkbox", { name: new RegExp(`^(?!${name})`) });
  await others.first().waitFor({ state: "detached" });
  await page.getByRole("checkbox", { name, exact: true }).check();
}

describe.skipIf(!hasBrowser)("rules", { timeout: 60_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  it("lists policies, finds them by words that stay in the address, and says what fails one", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/policies`);
    await page.getByRole("searchbox").fill("mesh");
    await page.waitForURL(/q=mesh/);
    await page.reload();
    await page.getByRole("link", { name: "known-origin" }).waitFor();
    expect(await page.getByRole("link", { name: "complete-trails" }).count()).toBe(0);
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("link", { name: "complete-trails" }).waitFor();
    requests.length = 0;
    await page.goto(`/${site.org}/policies/known-origin`);
    const failing = page.getByRole("table", { name: "What fails" }).getByRole("row");
    await failing.getByText("No flow knows this artifact").first().waitFor();
    expect(await failing.getByText("library.example/debug-toolbox").count()).toBe(1);
    expect(own(requests)).toHaveLength(3);
    // By all of its policies, while what fails is what this one alone refuses.
    const judged = page.getByRole("listitem").filter({ hasText: "shop-prod" });
    await judged.getByRole("link", { name: /^\d+ non-compliant$/ }).waitFor();
    await page.goto(`/${site.org}/policies/no-such`);
    await page.getByRole("heading", { name: "This is not here" }).waitFor();
    expect(unrefused(complaints)).toEqual([]);
  });

  it("writes a policy: a rule by the form, mistakes at their place, what it would have said, and saves it", async () => {
    const name = uniqueName("scanned");
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/policies/-/new?environment=shop-prod&period=90d`);
    const text = page.getByRole("textbox", { name: "Text of the policy, YAML" });
    await page.getByText("A policy without mistakes").waitFor();
    expect(own(requests)).toHaveLength(2);
    await page.locator(".cm-editor").waitFor();
    await write(page, "_schema: https://x.test/v1\nartifacts:\n  provenance:\n    required: perhaps\n");
    const mistake = page.getByRole("button", { name: /line 4:5/ });
    await mistake.waitFor();
    expect(await mistake.innerText()).toContain("valid boolean");
    await page.locator(".cm-lint-marker-error").waitFor();
    await mistake.click();
    await page.locator(".cm-editor.cm-focused").waitFor();
    await write(page, "_schema: https://x.test/v1\nartifacts:\n  provenance:\n    required: true\n");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("What is asked").selectOption("attestation");
    await page.getByLabel("Type", { exact: true }).selectOption("snyk");
    await page.getByRole("button", { name: "Add the rule" }).click();
    await page.getByText("A policy without mistakes").waitFor();
    expect(await text.innerText()).toContain("- type: snyk");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("slider", { name: "With this policy, shop-prod" }).waitFor();
    await page.getByRole("slider", { name: "Then, shop-prod" }).waitFor();
    await page.getByText(/^would fail in \d+ of \d+ snapshots/).waitFor();
    await page.getByText(/^\d+ failing artifacts$/).waitFor();
    await page.getByRole("button", { name: "Save…" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill(name);
    await page.getByRole("textbox", { name: "Comment", exact: true }).fill("Because of the audit");
    await page.getByText("It judges nothing until it is attached").waitFor();
    await page.getByRole("button", { name: "Save as a new policy" }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.getByText("None: it is attached nowhere yet.").waitFor();
    expect(unrefused(complaints)).toEqual([]);
  });

  it("tries a text anew when it is asked to, and shows until then that what it says is old", async () => {
    const org = await makeOrganization(site, "tried");
    await org.ask("PUT", `/environments/${org.name}`, { name: "dock", type: "docker", description: "" });
    const report = (version: number): Promise<unknown> =>
      org.ask("PUT", `/environments/${org.name}/dock/report/docker`, {
        artifacts: [
          { digests: { [`crane:${version}`]: `${version}`.repeat(64) }, creationTimestamp: 1_786_000_000 },
        ],
      });
    await report(1);
    const { page, complaints } = await site.open();
    await page.goto(`/${org.name}/policies/-/new?environment=dock`);
    await page.locator(".cm-editor").waitFor();
    await write(page, provenancePolicy);
    await page.getByText("A policy without mistakes").waitFor();
    const preview = page.getByRole("button", { name: "Preview", exact: true });
    const failing = page.getByRole("table", { name: "What would fail in dock" });
    await preview.click();
    await failing.getByText("crane:1").waitFor();
    await report(2);
    const release = await holdAnswers(page, /\/policies\/[^/]+\/preview$/);
    await preview.click();
    await page.locator("[data-old='true']").getByText("crane:1").waitFor();
    release();
    await failing.getByText("crane:2").waitFor();
    await page.locator("[data-old='false']").getByText("crane:2").waitFor();
    expect(complaints).toEqual([]);
  });

  it("asks by name before it says that a policy is new, and writes over none that it has not shown", async () => {
    const org = await makeOrganization(site, "named");
    await org.putPolicy("origin", provenancePolicy);
    const { page } = await site.open();
    // This page is not told of what others do.
    await page.route(/\/api\/v2\/changes\//, (route) => route.abort());
    const release = await holdAnswers(page, /\/api\/v2\/policies\/[^/]+(?:\/origin)?$/);
    await page.goto(`/${org.name}/policies/-/new`);
    await page.getByText("A policy without mistakes").waitFor();
    await page.getByRole("button", { name: "Save…" }).click();
    const dialog = page.getByRole("dialog", { name: "Save the policy" });
    const name = dialog.getByRole("textbox", { name: "Name", exact: true });
    await dialog.getByRole("textbox", { name: "Comment", exact: true }).fill("Tried");
    await name.fill("origin");
    const unknown = "Save as a new policy (It is not known yet whether a policy has this name)";
    await dialog.getByRole("button", { name: unknown }).waitFor();
    await name.press("Enter");
    release();
    await dialog.getByText("There is a policy of this name. Saving makes its next version.").waitFor();
    await dialog.getByText("It is attached nowhere").waitFor();

    await name.fill("fast");
    await dialog.getByText("The policy is new").waitFor();
    await org.putPolicy("fast", provenancePolicy);
    await dialog.getByRole("button", { name: "Save as a new policy", exact: true }).click();
    await dialog.getByText("There is a policy fast already").waitFor();
    await dialog.getByRole("button", { name: "Save as a new version", exact: true }).waitFor();
    for (const one of ["origin", "fast"])
      expect(await org.ask("GET", `/policies/${org.name}/${one}`)).toMatchObject({ versions: [{}] });
  });

  it("attaches a policy, says how many a new version touches, shows what it changed, and detaches it", async () => {
    const name = uniqueName("attached");
    const { page, complaints } = await site.open();
    const put = await page.request.fetch(`/api/v2/policies/${site.org}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${site.key}` },
      multipart: {
        payload: JSON.stringify({ name }),
        policy_file: {
          name: "p.yaml",
          mimeType: "text/yaml",
          buffer: Buffer.from("_schema: https://x.test/v1\n"),
        },
      },
    });
    expect(put.status()).toBe(201);
    await page.goto(`/${site.org}/policies/${name}`);
    await page.getByRole("button", { name: "Attach" }).click();
    const attach = page.getByRole("button", { name: /^Attach to \d+ environment/ });
    await page.getByRole("checkbox").nth(5).waitFor();
    const before = await attach.boundingBox();
    await chooseEnvironment(page, "identity-prod");
    expect((await attach.boundingBox())?.y).toBe(before?.y);
    await page.getByRole("button", { name: "Attach to 1 environment" }).click();
    await page.getByRole("link", { name: "identity-prod", exact: true }).waitFor();
    await page.getByRole("link", { name: "Edit" }).click();
    await page.locator(".cm-editor").waitFor();
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByRole("button", { name: "Add the rule" }).click();
    await page.getByText("A policy without mistakes").waitFor();
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("button", { name: "Stay" }).click();
    await page.getByRole("button", { name: "Save…" }).click();
    await page.getByText("1 environment", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Comment", exact: true }).fill("Know where it comes from");
    await page.getByRole("button", { name: "Save as a new version" }).click();
    await page.getByRole("link", { name: "Versions 2" }).click();
    const changes = page.getByRole("table", { name: "Changes from version 1 to 2" });
    await changes.getByText("provenance:").waitFor();
    await page.reload();
    await changes.getByText("provenance:").waitFor();
    const history = page.getByRole("region", { name: "Who changed it" }).getByRole("listitem");
    await history.first().getByText("wrote a new version, version 2").waitFor();
    await history.last().getByText("made it").waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("button", { name: "Detach from identity-prod" }).click();
    await page.getByRole("button", { name: "Detach", exact: true }).click();
    await page.getByText("None: it is attached nowhere yet.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("edits in a plain field when the editor cannot be loaded", async () => {
    const { page } = await site.open();
    await page.route(/\/editor-/, (request) => request.abort());
    await page.goto(`/${site.org}/policies/known-origin/edit`);
    const text = page.getByRole("textbox", { name: "Text of the policy, YAML" });
    await page.getByText("A policy without mistakes").waitFor();
    await text.fill("_schema: https://x.test/v2\n");
    await page.getByRole("button", { name: /line 1:1/ }).waitFor();
    expect(await page.locator(".cm-editor").count()).toBe(0);
  });

  it("makes a control, shows who enforces it, and keeps its history", async () => {
    const control = uniqueName("WEB-1");
    const title = `Releases are approved (${control})`;
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/controls`);
    await page.getByRole("button", { name: "New control" }).click();
    await page.getByRole("textbox", { name: "Identifier", exact: true }).fill(control);
    await page.getByRole("textbox", { name: "Name", exact: true }).fill(title);
    await page
      .getByRole("textbox", { name: "Links", exact: true })
      .fill("The standard https://standard.example/1");
    await page.getByRole("button", { name: "Make the control" }).click();
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await page.getByRole("heading", { name: "Nobody has decided on it yet" }).waitFor();
    await page.getByRole("link", { name: "Coverage" }).click();
    await page.getByRole("link", { name: "0 do", exact: true }).click();
    await page.getByRole("heading", { name: "No environment matches" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("table", { name: "Coverage" }).getByText("Not enforced").first().waitFor();
    await page.getByRole("button", { name: "Retire" }).click();
    await page.getByRole("button", { name: "Retire it" }).click();
    await page.getByRole("button", { name: "Bring back" }).waitFor();
    await page.getByRole("link", { name: "Versions" }).click();
    await expect.poll(() => page.getByRole("table", { name: "Versions" }).getByRole("row").count()).toBe(3);
    await page.goto(`/${site.org}/controls?search=${control}`);
    await page.getByRole("heading", { name: "No control matches" }).waitFor();
    await page.getByLabel("Archived").check();
    await page.getByRole("link", { name: title }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says who allowed what and why, allows more, and takes it back", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/allow-list`);
    await page.getByText("HL-2041").waitFor();
    await page.getByRole("button", { name: "Allow an artifact" }).click();
    await page.getByLabel("Artifact", { exact: true }).fill("registry.example/cache:7");
    await page.getByRole("textbox", { name: "Fingerprint", exact: true }).fill("ab".repeat(32));
    await page.getByRole("textbox", { name: "Why", exact: true }).fill("Read by Platform");
    await chooseEnvironment(page, "identity-prod");
    await page.getByRole("button", { name: "Allow it" }).click();
    await page.getByText("Read by Platform").waitFor();
    await page.getByLabel("Environment", { exact: true }).selectOption("identity-prod");
    await page.reload();
    await page.getByText("Read by Platform").waitFor();
    expect(await page.getByText("HL-2041").count()).toBe(0);
    await page.getByRole("button", { name: "Remove registry.example/cache:7 in identity-prod" }).click();
    await page.getByRole("button", { name: "Remove from the allow-list" }).click();
    await page.getByRole("heading", { name: "Nothing matches" }).waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByText("HL-2041").waitFor();
    expect(complaints).toEqual([]);
  });
});
