import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser, openBrowser } from "../../support/browser.ts";
import { fillDemo } from "../../support/demo.ts";
import { addressFiller } from "../../support/page-addresses.ts";
import { compareWithKept, isWriting, takePicture } from "../../support/pictures.ts";
import { amount } from "../../support/thorough.ts";
import { openSite, untilAllAsked, type WebSite } from "../../support/web.ts";

const themes: readonly ("light" | "dark")[] = ["light", "dark"];

/** Pictures of time, whose widths are how long this run took. */
const strip = "figure";

/** Pages that have a picture: its name, the page's pattern, and what of it differs from run to run. */
const pictured: readonly (readonly [name: string, path: string, hidden?: readonly string[]])[] = [
  ["sign-in", "/-/sign-in"],
  ["organization-new", "/-/organizations/new"],
  ["start", "/$org", [strip, "section[aria-label='Latest changes'] li"]],
  ["what-runs", "/$org/running"],
  ["environments", "/$org/environments?sort=name"],
  ["environment-new", "/$org/environments/-/new"],
  ["environment", "/$org/environments/$env", [strip]],
  ["snapshot", "/$org/environments/$env/snapshots/1", [strip]],
  ["timeline", "/$org/environments/$env/snapshots", [strip]],
  ["log", "/$org/environments/$env/log"],
  ["compare", "/$org/diff?from=shop-prod~1&to=shop-prod", [strip]],
  ["flows", "/$org/flows?sort=name"],
  ["flow-new", "/$org/flows/-/new"],
  ["flow", "/$org/flows/$flow"],
  ["flow-template", "/$org/flows/$flow/template"],
  ["trail", "/$org/flows/$flow/trails/$trail"],
  ["artifact", "/$org/flows/$flow/artifacts/$fingerprint"],
  ["commit", "/$org/commits/$sha"],
  ["repos", "/$org/repos"],
  ["policies", "/$org/policies"],
  ["policy", "/$org/policies/$policy"],
  ["policy-editor", "/$org/policies/$policy/edit", [strip]],
  ["controls", "/$org/controls"],
  ["attestation-type", "/$org/attestation-types/$type"],
  ["action", "/$org/actions/-/new"],
  ["allow-list", "/$org/allow-list"],
  ["spaces", "/$org/spaces"],
];

/** What this machine makes of letters and lines, whatever the app does: another machine's pictures cannot be compared. */
const card = `<body style="margin:20px;font:16px sans-serif"><h1>Waybill 0123</h1><p>Every build, <b>what proves it</b>.</p>
<pre style="font:13px monospace">7f3a09c fi ffl == !=</pre><svg width="80" height="40"><circle cx="20" cy="20" r="13.3"/></svg>`;

describe.skipIf(!hasBrowser)("pictures of pages", { timeout: 120_000 }, () => {
  let site: WebSite;
  let fill: (path: string) => string;
  let isComparable: boolean;
  beforeAll(async () => {
    const shared = await openSite();
    // Others change what they share.
    await fillDemo({ ...shared, org: "pictured", seed: "pictures" });
    site = { ...shared, org: "pictured" };
    fill = await addressFiller(site);
    const page = await (await openBrowser()).newPage({ viewport: { width: 400, height: 200 } });
    await page.setContent(card);
    isComparable = compareWithKept("card", await takePicture(page)) === undefined;
    await page.close();
  }, 300_000);

  it("look as they did", async () => {
    if (!isComparable) {
      console.warn(
        "Pictures are not compared: this machine draws letters otherwise than the one they are from",
      );
      return;
    }
    const problems: string[] = [];
    const { page } = await site.open({ viewport: { width: 1280, height: 800 }, bypassCSP: true });
    for (const [index, [name, path, hidden]] of pictured.entries()) {
      await page.goto(fill(path));
      await untilAllAsked(page);
      const one = themes.slice(index % 2, (index % 2) + 1);
      for (const colorScheme of isWriting ? themes : amount(one, themes)) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const problem = compareWithKept(`${name}-${colorScheme}`, await takePicture(page, hidden));
        if (problem !== undefined) problems.push(problem);
      }
    }
    expect(problems).toEqual([]);
    expect(isWriting, "pictures were written, not compared").toBe(false);
  });
});
