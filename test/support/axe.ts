import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "playwright-core";

import { amount } from "./thorough.ts";
import { untilNothingToDo } from "./web.ts";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What WCAG 2.2 asks for on its levels A and AA. */
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface Found {
  id: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Runs in the page: colours that pass over into others are neither of them. */
const untilColoursStay = `(async () => {
  const passing = () => document.getAnimations().filter((one) => one instanceof CSSTransition && one.playState === "running");
  while (passing().length > 0) await Promise.allSettled(passing().map(({ finished }) => finished));
})()`;

/** Runs in the page: resolves in the next frame, at whose end a page is told of sizes that have changed. */
const untilNextFrame = "new Promise((resolve) => requestAnimationFrame(() => resolve()))";

/** What is found has to be known, but not which selectors lead to each element that was looked at: a third of the time. */
const options = JSON.stringify({
  runOnly: { type: "tag", values: tags },
  resultTypes: ["violations"],
  selectors: false,
});

/**
 * What of a page is looked at, for axe: its time grows faster than a page does, and one part of the app draws all rows of a table or list. The
 * thorough length looks at each row.
 */
const context = JSON.stringify({
  exclude: amount([["tbody > tr:nth-child(n+9)"], ["li:nth-child(n+12)"]], []),
});

/** Lists what is not accessible on a page, a line each. The page's content policy hinders neither script nor result. */
export async function inaccessible(page: Page): Promise<string[]> {
  // A page that is looked at again has it still.
  if ((await page.evaluate("typeof axe")) !== "object") await page.evaluate(source);
  // A frame that has just become too narrow for its table is reached by keys as soon as the page has heard of that and drawn it.
  await page.evaluate(untilNextFrame);
  await page.evaluate(untilNothingToDo);
  await page.evaluate(untilColoursStay);
  const violations = (await page.evaluate(
    `axe.run(${context}, ${options}).then(({ violations }) => violations)`,
  )) as Found[];
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
