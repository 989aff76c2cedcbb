import type { Locator, Page } from "playwright-core";

import { replaceText } from "./web-page.ts";

type Pressed = "link" | "button";

/** What can be done on a page, by whatever hand. Each counts as a step, but for what is written into a text. */
export interface Hand {
  /** Presses the first that is called so, in a region or a navigation of this name if that is said. */
  press(role: Pressed, name: string | RegExp, within?: string): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  /** Looks for something everywhere, and opens what is found first. */
  search(words: string): Promise<void>;
  /** Puts this in place of what a field has. */
  write(label: string, text: string): Promise<void>;
  /** How many steps were taken. */
  steps(): number;
}

function target(page: Page, role: Pressed, name: string | RegExp, within?: string): Locator {
  const frame =
    within === undefined
      ? page.locator("body")
      : page.getByRole("region", { name: within }).or(page.getByRole("navigation", { name: within }));
  return frame.getByRole(role, typeof name === "string" ? { name, exact: true } : { name }).first();
}

/** Moves the focus by Tab until it is there, as somebody without a mouse does. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let count = 0; count < 200; count += 1) {
    if (await wanted.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("Tab does not lead there");
}

/** A hand with a mouse. */
export function mouseOn(page: Page): Hand {
  let steps = 0;
  return {
    press: async (role, name, within) => {
      steps += 1;
      await target(page, role, name, within).click();
    },
    choose: async (label, option) => {
      steps += 1;
      await page.getByLabel(label, { exact: true }).selectOption(option);
    },
    search: async (words) => {
      steps += 1;
      await page.getByRole("button", { name: "Search" }).first().click();
      await page.getByRole("combobox", { name: "Search" }).fill(words);
      await page.keyboard.press("Enter");
    },
    write: async (label, text) => {
      await page.getByLabel(label, { exact: true }).click();
      await replaceText(page, text);
    },
    steps: () => steps,
  };
}

/** A hand with nothing but a keyboard. */
export function keyboardOn(page: Page): Hand {
  let steps = 0;
  return {
    press: async (role, name, within) => {
      steps += 1;
      await tabTo(page, target(page, role, name, within));
      await page.keyboard.press("Enter");
    },
    choose: async (label, option) => {
      steps += 1;
      const control = page.getByLabel(label, { exact: true });
      await control.getByRole("option", { name: option }).waitFor({ state: "attached" });
      await tabTo(page, control);
      await page.keyboard.type(option);
    },
    search: async (words) => {
      steps += 1;
      await page.keyboard.press("/");
      await page.getByRole("combobox", { name: "Search" }).waitFor();
      await page.keyboard.type(words);
      await page.keyboard.press("Enter");
    },
    write: async (label, text) => {
      await tabTo(page, page.getByLabel(label, { exact: true }));
      await replaceText(page, text);
    },
    steps: () => steps,
  };
}
