import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { holdAnswers, writeInEditor } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));

/** What a browser says of every refused request, which definitions with mistakes are. */
const unrefused = (complaints: readonly string[]): string[] =>
  complaints.filter((complaint) => !/status of 40[04]/.test(complaint));

const definition = {
  name: "coverage",
  description: "How much the tests run",
  evaluator: { content_type: "jq", rules: [".lines >= 80"] },
  summary: [{ name: "Lines", expression: String.raw`"\(.lines) %"` }],
};

async function postType(org: OwnOrganization, data: object): Promise<void> {
  const form = new FormData();
  form.append("data_json", JSON.stringify(data));
  await org.ask("POST", `/custom-attestation-types/${org.name}`, form);
}

const writeSchema = (page: Page, text: string) => writeInEditor(page, "JSON Schema", text);

describe.skipIf(!hasBrowser)("attestation types", { timeout: 90_000 }, () => {
  let site: WebSite;
  let org: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  // For each, so that none meets what another one, or its own first try, has made.
  beforeEach(async () => {
    org = await makeOrganization(site, "web-types");
    await postType(org, definition);
  });

  it("makes a type: mistakes at their places, what it makes of data, and saves it", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${org.name}/attestation-types`);
    await page.getByRole("link", { name: "New type" }).click();
    await page.getByText("A definition without mistakes").waitFor();
    expect(own(requests).length).toBeLessThanOrEqual(4);
    await page.getByLabel("Description", { exact: true }).fill("What the load test measured");
    await page.getByLabel("Rule 1", { exact: true }).fill(".p99 <");
    await page.getByText("1 mistake", { exact: true }).waitFor();
    expect(await page.getByLabel("Rule 1", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: /^Save/ }).and(page.locator("[aria-disabled]")).waitFor();
    await page.getByLabel("Rule 1", { exact: true }).fill(".p99 < 250");
    await page.locator(".cm-editor").waitFor();
    await writeSchema(page, '{\n  "type": "nummer"\n}');
    await page
      .getByRole("list", { name: "Mistakes in the schema" })
      .getByText(/^line 2:3/)
      .waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    await writeSchema(page, '{"type": "object", "required": ["p99"]');
    await page.getByText(/^line 1:\d+ Expected , or \} here$/).waitFor();
    await writeSchema(page, '{"type": "object", "required": ["p99"]}');
    await page.getByRole("button", { name: "Add a line" }).click();
    await page.getByLabel("Name 1", { exact: true }).fill("99th percentile");
    await page.getByText("A line of the summary lacks its name or its expression", { exact: true }).waitFor();
    await page.getByLabel("Expression 1", { exact: true }).fill(".p99");
    await page.getByLabel("Data, as JSON").fill('{"p99": 251}');
    const outcome = page.getByRole("status");
    await page.getByRole("button", { name: "Try it" }).click();
    await outcome.getByText("Non-compliant").waitFor();
    await outcome.getByText("251", { exact: true }).waitFor();
    await page.getByLabel("Rule 1", { exact: true }).fill(".p99 < 300");
    await outcome.getByText("Of an earlier definition. Try again.").waitFor();
    await page.getByRole("button", { name: "Try it" }).click();
    await outcome.getByText("Compliant", { exact: true }).waitFor();
    await page.getByText("A definition without mistakes").waitFor();
    await page.getByRole("button", { name: "Save…" }).click();
    await page.getByRole("table", { name: "What changes" }).getByText(".p99 < 300").waitFor();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("load-test");
    await page.getByRole("button", { name: "Save as a new type" }).click();
    await page.getByRole("heading", { name: "load-test", level: 1 }).waitFor();
    await page.getByText(".p99 < 300").waitFor();
    expect(unrefused(complaints)).toEqual([]);
  });

  it("makes the next version, shows what it changed, archives the type and brings it back", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org.name}/attestation-types?q=cover`);
    await page.getByRole("link", { name: "coverage", exact: true }).click();
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByLabel("Rule 1", { exact: true }).fill(".lines >= 90");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("Rule 2", { exact: true }).fill(".branches >= 70");
    await page.getByText("A definition without mistakes").waitFor();
    await page.getByRole("link", { name: "coverage", exact: true }).click();
    await page.getByRole("button", { name: "Stay" }).click();
    await page.getByRole("button", { name: "Save…" }).click();
    await page.getByText("Those that are there keep the verdict of their version").waitFor();
    await page.getByRole("button", { name: "Save as a new version" }).click();
    await page.getByRole("link", { name: "Versions 2" }).click();
    const changes = page.getByRole("table", { name: "Changes from version 1 to 2" });
    await changes.getByText(".lines >= 80").waitFor();
    await changes.getByText(".branches >= 70").waitFor();
    await page.reload();
    await changes.getByText(".branches >= 70").waitFor();
    await page.goto(`/${org.name}/attestation-types/coverage?version=1`);
    await page.getByText("This is version 1").waitFor();
    await page.getByText(".lines >= 80").waitFor();
    await page.getByRole("button", { name: "Archive" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
    await page.getByText("archived", { exact: true }).waitFor();
    await page.goto(`/${org.name}/attestation-types?q=coverage`);
    await page.getByRole("heading", { name: "No type matches" }).waitFor();
    await page.getByRole("link", { name: "coverage", exact: true }).click();
    await page.getByRole("button", { name: "Bring back" }).click();
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.getByRole("button", { name: "Archive" }).waitFor();
    await page.getByRole("link", { name: "Versions 2" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("asks by name before it says that a type is new: an archived one comes back, and none is taken unseen", async () => {
    const type = `/custom-attestation-types/${org.name}`;
    await org.ask("PUT", `${type}/coverage/archive`);
    const { page } = await site.open();
    // This page is not told of what others do.
    await page.route(/\/api\/v2\/changes\//, (route) => route.abort());
    await page.goto(`/${org.name}/attestation-types/-/new`);
    await page.getByLabel("Rule 1", { exact: true }).fill(".p99 < 300");
    await page.getByText("A definition without mistakes").waitFor();
    await page.getByRole("button", { name: "Save…" }).click();
    const dialog = page.getByRole("dialog", { name: "Save the attestation type" });
    const name = dialog.getByRole("textbox", { name: "Name", exact: true });
    const unknown = "Save as a new type (It is not known yet whether a type has this name)";
    const newVersion = dialog.getByRole("button", { name: "Save as a new version", exact: true });
    const release = await holdAnswers(page, new RegExp(`${type}/coverage$`));
    await name.fill("coverage");
    await dialog.getByRole("button", { name: unknown }).waitFor();
    await name.press("Enter");
    release();
    await dialog.getByText("There is a type of this name. Saving makes its next version.").waitFor();
    await dialog.getByText("It is archived. Saving brings it back.").waitFor();
    await dialog.getByText("removed: .lines >= 80").waitFor();
    expect(await dialog.getByText("The type is new").count()).toBe(0);
    await newVersion.waitFor();

    let isFailing = true;
    const failed = { status: 500, json: { message: "Internal error" } };
    await page.route(new RegExp(`${type}/fast$`), (route) =>
      isFailing ? route.fulfill(failed) : route.fallback(),
    );
    await name.fill("fast");
    await dialog.getByRole("alert").getByText("Internal error").waitFor();
    await dialog.getByRole("button", { name: unknown }).waitFor();
    isFailing = false;
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByText("The type is new").waitFor();
    await postType(org, { ...definition, name: "fast" });
    await dialog.getByRole("button", { name: "Save as a new type", exact: true }).click();
    await dialog.getByText("There is a type fast already").waitFor();
    expect(await org.ask("GET", `${type}/fast`)).toMatchObject({ versions: [{ version: 1 }] });
    expect(await org.ask("GET", `${type}/coverage`)).toMatchObject({ archived: true, versions: [{}] });
    await newVersion.click();
    await page.getByRole("heading", { name: "fast", level: 1 }).waitFor();
    await page.getByText(".p99 < 300").waitFor();
  });

  it("says to those who may only read why they may not write, and shows them what there is", async () => {
    const { page, complaints } = await site.open({ key: await org.keyFor("reader") });
    await page.goto(`/${org.name}/attestation-types`);
    await page.getByRole("button", { name: /^New type \(.*member/ }).waitFor();
    await page.getByRole("link", { name: "coverage", exact: true }).click();
    await page.getByRole("button", { name: /^Edit \(.*member/ }).waitFor();
    await page.getByRole("button", { name: /^Try it \(.*member/ }).waitFor();
    await page.getByText("How much the tests run").waitFor();
    await page.goto(`/${org.name}/attestation-types/coverage/edit`);
    await page.getByRole("button", { name: /^Save… \(.*member/ }).waitFor();
    await page.goto(`/${org.name}/attestation-types/no-such/edit`);
    await page.getByRole("heading", { name: "This is not here" }).waitFor();
    expect(unrefused(complaints)).toEqual([]);
  });
});
