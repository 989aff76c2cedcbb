import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import pixelmatch from "pixelmatch";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";

const folder = join(import.meta.dirname, "..", "e2e", "web", "pictures");

/** Of a picture's pixels, how many may look different: edges of letters that fall between two pixels. */
const mayDiffer = 0.001;

/** Whether pictures are written instead of compared: after a change of how pages look, by somebody who then looks at them. */
export const isWriting = process.env["WAYBILL_WRITE_PICTURES"] === "1";

/** Makes a page say what does not depend on when, where and how fast it came to be: times, durations, ports, and ids that chance gives. */
const steady = `
  for (const time of document.querySelectorAll("time"))
    time.textContent = time.textContent === time.dataset.exact ? "2026-01-02 03:04:05" : "3 h ago";
  const unsteady = [
    [/\\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{8}\\b/g, "00000000-0000-0000-0000-00000000"],
    [/127\\.0\\.0\\.1:\\d+/g, "127.0.0.1:8001"],
    [/\\b\\d+ s\\b/g, "3 s"],
  ];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    const said = unsteady.reduce((text, [pattern, instead]) => text.replace(pattern, instead), data);
    if (said !== data) texts.currentNode.data = said;
  }
  document.fonts.ready.then(() => true)`;

/** Takes a picture of what is in the window, without what differs from run to run. @param hidden selectors of it. */
export async function takePicture(page: Page, hidden: readonly string[] = []): Promise<Buffer> {
  await page.evaluate(steady);
  return page.screenshot({
    animations: "disabled",
    mask: hidden.map((selector) => page.locator(selector)),
    maskColor: "#808080",
  });
}

function difference(one: PNG, other: PNG, shown: PNG): number {
  const { width, height } = one;
  return pixelmatch(one.data, other.data, shown.data, width, height, { threshold: 0.2 }) / (width * height);
}

let failures: string | undefined;

/** Keeps a picture that is not as it was, with what differs in red. @returns where. */
function keep(name: string, picture: Buffer, shown: PNG): string {
  failures ??= mkdtempSync(join(tmpdir(), "waybill-pictures-"));
  writeFileSync(join(failures, `${name}.png`), picture);
  writeFileSync(join(failures, `${name}-difference.png`), PNG.sync.write(shown));
  return failures;
}

/**
 * Compares a picture with the one that is kept under its name, or keeps it, if pictures are written.
 * @returns what is wrong; undefined when they look alike.
 */
export function compareWithKept(name: string, picture: Buffer): string | undefined {
  const path = join(folder, `${name}.png`);
  if (isWriting) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, picture);
    return undefined;
  }
  if (!existsSync(path)) return `${name}: no picture is kept of it`;
  const keptFile = readFileSync(path);
  if (keptFile.equals(picture)) return undefined;
  const [kept, taken] = [PNG.sync.read(keptFile), PNG.sync.read(picture)];
  if (kept.width !== taken.width || kept.height !== taken.height) return `${name}: its size is another`;
  const shown = new PNG({ width: kept.width, height: kept.height });
  const differs = difference(kept, taken, shown);
  if (differs <= mayDiffer) return undefined;
  return `${name}: ${(differs * 100).toFixed(2)} % of it differ; see ${keep(name, picture, shown)}`;
}
