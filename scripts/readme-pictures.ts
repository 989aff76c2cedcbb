/** Makes the pictures of the README from the demo, in a browser: `npm run pictures`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { openBrowser } from "../test/support/browser.ts";
import { offerFolder } from "../test/support/program.ts";
import { startSite } from "../test/support/web-site.ts";

const folder = join(import.meta.dirname, "..", "docs", "pictures");

/** What is pictured: a name, how to get there from the start page, and what is there last. */
const sights = [
  ["start", [], "Compliance in 30 days"],
  ["artifact", ["Environments", "shop-prod", "registry/storefront-web"], "Where it runs"],
] as const;

mkdirSync(folder, { recursive: true });
const built = offerFolder();
const { site, end } = await startSite();
const browser = await openBrowser();
for (const colorScheme of ["light", "dark"] as const) {
  const context = await browser.newContext({
    baseURL: site.url,
    colorScheme,
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    extraHTTPHeaders: { authorization: `Bearer ${site.key}` },
  });
  const page = await context.newPage();
  for (const [name, links, last] of sights) {
    await page.goto("/harborlight");
    for (const link of links) await page.getByRole("link", { name: link }).first().click();
    await page.getByRole("heading", { name: last }).waitFor();
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), animations: "disabled" });
  }
  await context.close();
}
await browser.close();
await end();
built.remove();
