import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { pagePaths } from "../../../web/paths.ts";
import { hasBrowser } from "../../support/browser.ts";
import { makeOneOfEach, type OneOfEach } from "../../support/one-of-each.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { openSite, untilSettled, type WebSite } from "../../support/web.ts";

const mark = "globalThis.wasRun=1";

/** What executes wherever text is taken for markup, mixed with what confuses readers: other directions, controls, paths. */
const markup =
  `<img src=x onerror="${mark}"></script><script>${mark}</script><svg onload=${mark}>` +
  `'"><a href="javascript:${mark}">x</a>{{constructor.constructor('${mark}')()}}../../..%2f\u202e\u2066\u0007\u001b[2J`;

/** Of one text: what takes ten times as much lays some pages out for minutes. */
const longest = 2_000;

/** Fills a place as far as it goes, without a blank at which a line could break. */
function text(place: string, most = longest): string {
  // Repos are found by their name, of which addresses leave out what leads upwards.
  const given = place === "repo" ? markup.replaceAll("../", "") : markup;
  return `${given}${"W".repeat(longest)}`.slice(0, Math.min(most, longest));
}

/** Addresses of all kinds that are none, as the links of one thing. */
function record(place: string): Record<string, string> {
  return {
    script: `javascript:${mark}`,
    shouted: ` JaVaScRiPt:${mark}//https://x`,
    data: `data:text/html,<script>${mark}</script>`,
    markup: text(place),
    web: `https://code.example/${place}"onmouseover="${mark}"/<img src=x onerror=${mark}>`,
  };
}

const addresses = [
  `javascript:${mark}`,
  `data:text/html,<script>${mark}</script>`,
  `https://code.example/"><img src=x onerror=${mark}>/../../${"w".repeat(1900)}`,
];
let nth = 0;

/** Where an address is expected: one kind after the other. */
function address(_place: string, most = longest): string {
  nth += 1;
  return addresses[nth % addresses.length]!.slice(0, most);
}

/** Addresses of all pages of the organization, with all parts of pages. */
function addressesOf({ name: org }: OwnOrganization, of: OneOfEach): string[] {
  const values = new Map([
    ["org", org],
    ["env", of.env],
    ["expression", "latest"],
    ["flow", of.flow],
    ["trail", of.trail],
    ["fingerprint", of.fingerprint],
    ["sha", of.sha],
    ["policy", of.policy],
    ["type", of.type],
    ["control", of.control],
    ["number", "1"],
    ["", encodeURIComponent(of.repo)],
  ]);
  const fill = (path: string): string =>
    path.replaceAll(/\$(\w*)/g, (_place, name: string) => values.get(name)!);
  return [
    ...pagePaths.filter((path) => path.startsWith("/$org") || path === "/-/organizations").map(fill),
    fill(`/$org/artifacts/${"c".repeat(64)}`),
    fill("/$org/diff?from=prod~1&to=prod"),
    fill("/$org/controls/$control?tab=versions"),
    fill("/$org/controls/$control?tab=coverage"),
    fill("/$org/settings/service-accounts?open=robot"),
    fill("/$org/audit-log?kind=members"),
    fill("/$org/repos/$?tab=release"),
    fill("/$org/repos/$?tab=run"),
  ];
}

/** Runs in the page. What is folded away holds foreign texts, too. */
const lookForProblems = `(() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const found = [];
  if ("wasRun" in globalThis) found.push("foreign text was run");
  for (const { protocol, href } of document.querySelectorAll("a"))
    if (href !== "" && protocol !== "http:" && protocol !== "https:") found.push("leads to " + href.slice(0, 40));
  for (const one of document.querySelectorAll("main :is(img, script, iframe, svg[onload])"))
    found.push("has " + one.tagName + " in it");
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) found.push("is " + scrollWidth + " wide");
  return found;
})()`;

/** Says what is wrong with an open page: what was run, what leads elsewhere than to the web, what makes it too wide. */
function problemsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(lookForProblems);
}

describe.skipIf(!hasBrowser)("hostile text", { timeout: 180_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  let made: OneOfEach;
  beforeAll(async () => {
    site = await openSite();
    own = await makeOrganization(site, "hostile-texts");
    made = await makeOneOfEach(site, own, { text, address, record });
  }, 240_000);

  it("is text on every page, leads nowhere but to the web, and makes none too wide", async () => {
    const { page, complaints } = await site.open({ viewport: { width: 360, height: 800 } });
    const problems: string[] = [];
    page.on("dialog", (dialog) => {
      problems.push(`asks ${dialog.message()}`);
      void dialog.dismiss();
    });
    const note = async (what: string): Promise<void> => {
      await untilSettled(page);
      for (const problem of [...(await problemsOf(page)), ...complaints.splice(0)])
        problems.push(`${what.slice(0, 120)} ${problem.slice(0, 300)}`);
    };
    for (const path of addressesOf(own, made)) {
      await page.goto(path);
      await note(path);
    }
    const trail = `/${own.name}/flows/${made.flow}/trails/${made.trail}`;
    await page.goto(trail);
    for (const id of Object.values(made.attestations)) {
      await page.locator(`main a[href*="attestation_id=${id}"]`).first().click();
      await page.getByRole("dialog").getByText(id).first().waitFor();
      await note(`${trail} ${id}`);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    expect(problems).toEqual([]);
  });

  it("is text in what was searched for", async () => {
    const { page, complaints } = await site.open({ viewport: { width: 360, height: 800 } });
    const asked = encodeURIComponent(markup);
    await page.goto(`/${own.name}/environments?name=${asked}&tag=${asked}`);
    await untilSettled(page);
    expect(await problemsOf(page)).toEqual([]);
    await page.keyboard.press("/");
    await page.getByRole("dialog").getByRole("combobox").fill(markup.slice(0, 100));
    expect(await problemsOf(page)).toEqual([]);
    expect(complaints.filter((one) => !one.includes("status of 400"))).toEqual([]);
  });
});
