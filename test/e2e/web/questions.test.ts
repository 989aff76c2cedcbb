import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { type Hand, keyboardOn, mouseOn } from "../../support/hands.ts";
import { everyNth } from "../../support/page-visits.ts";
import { amount } from "../../support/thorough.ts";
import { openSite, type WebSite } from "../../support/web.ts";

/** Something that runs in production, as somebody who asks knows it. */
interface Known {
  commit: string;
  fingerprint: string;
  environment: string;
}

/** A question that people come with: how they get from the start page to the answer, and how it is known. */
interface Question {
  number: number;
  asks: string;
  go: (page: Page, hand: Hand, known: Known) => Promise<void>;
  isAnswered: (page: Page, known: Known) => Promise<void>;
}

const patient = { timeout: 30_000 };

/** Saves what a link downloads. @returns its path in the folder. */
async function download(page: Page, folder: string, name: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent("download", patient),
    page.getByRole("link", { name, exact: true }).click(),
  ]);
  const path = join(folder, name === "PDF" ? "trail.pdf" : "package.tar");
  await file.saveAs(path);
  return path;
}

/** Takes everything away that the audit menu offers, and checks the package by the command that the page gives for it. */
async function takeAway(page: Page): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "waybill-audit-"));
  const menu = page.getByRole("button", { name: "Audit", exact: true });
  const pdf = await readFile(await download(page, folder, "PDF"));
  expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  await menu.click();
  await download(page, folder, "Audit package");
  await menu.click();
  await page.getByRole("button", { name: "How a package is checked" }).click();
  const check = await page.getByLabel("command that checks a package", { exact: true }).innerText();
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", check], { cwd: folder });
  expect(stdout).toMatch(/: OK\n/);
  expect(stdout).not.toMatch(/FAILED/);
  await rm(folder, { recursive: true });
  await page.keyboard.press("Escape");
  await page.evaluate("window.print = () => { document.title = 'printed'; }");
  await menu.click();
  await page.getByRole("button", { name: "Print this page" }).click();
  await expect.poll(() => page.title()).toBe("printed");
}

const questions: readonly Question[] = [
  {
    number: 1,
    asks: "What runs in prod now, is any of it unproven?",
    go: async (_page, { press, choose }) => {
      await press("link", /unproven$/);
      await choose("Tag", "stage:prod");
    },
    isAnswered: async (page) => {
      await page.waitForURL(/provenance=none/);
      await page.waitForURL(/tag=stage/);
      await page.getByRole("table", { name: "What runs" }).getByText("No flow knows it").first().waitFor();
      await expect.poll(() => page.getByRole("link", { name: "shop-staging" }).count(), patient).toBe(0);
    },
  },
  {
    number: 2,
    asks: "What changed between yesterday and now?",
    go: (_page, { press }) => press("link", "Changes", "Organization"),
    isAnswered: async (page) => {
      await page.getByRole("heading", { name: "Changes", level: 1 }).waitFor();
      await page.getByText("last 24 hours").first().waitFor({ state: "attached" });
      await page.getByRole("table", { name: "What changed" }).getByText("started").first().waitFor();
    },
  },
  {
    number: 3,
    asks: "Why is this non-compliant, what fixes it?",
    go: async (_page, { press }) => {
      await press("link", "shop-prod", "Needs attention");
      await press("button", /^Why registry\//);
    },
    isAnswered: async (page) => {
      await page.getByRole("heading", { name: "What is asked of it" }).waitFor();
      const policy = page.getByRole("heading", { name: /^tested-and-reviewed version \d/ });
      await policy.waitFor();
      const rules = page.getByRole("listitem").filter({ hasText: /^(?:Failed|Missing)/ });
      await rules.first().waitFor();
      await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
      const fix = page.getByRole("listitem").filter({ hasText: /^Make trail/ });
      await fix.getByRole("link").waitFor();
      // What decided is there to be looked at.
      const evidence = page.getByRole("listitem").filter({ hasText: /^Met/ }).getByRole("link");
      await evidence.filter({ hasText: "unit-tests" }).first().waitFor();
    },
  },
  {
    number: 4,
    asks: "Where does commit X run?",
    go: (_page, { search }, { commit }) => search(commit),
    isAnswered: async (page, { commit, environment }) => {
      await page.getByRole("heading", { name: `Commit ${commit.slice(0, 7)}`, level: 1 }).waitFor();
      const where = page.getByRole("region", { name: "Where it runs" });
      await where.getByRole("link", { name: environment, exact: true }).waitFor();
    },
  },
  {
    number: 5,
    asks: "Show the auditor everything for release Y",
    go: async (_page, { press, search }) => {
      await search("release-1");
      await press("button", "Audit");
    },
    isAnswered: async (page) => {
      await page.getByRole("heading", { name: "release-1", level: 1 }).waitFor();
      await takeAway(page);
    },
  },
  {
    number: 6,
    asks: "May this build go to prod?",
    go: async (_page, { press, search }, { fingerprint }) => {
      await search(fingerprint);
      await press("button", "Check against…");
    },
    isAnswered: async (page) => {
      const dialog = page.getByRole("dialog", { name: "May this artifact run?" });
      await dialog.getByText(/^It may (?:not )?run where all policies apply$/).waitFor();
      for (const policy of ["known-origin", "tested-and-reviewed", "complete-trails"])
        await dialog
          .getByRole("region", { name: policy, exact: true })
          .getByText(/^(?:Non-c|C)ompliant$/)
          .first()
          .waitFor();
    },
  },
  {
    number: 7,
    asks: "Who stopped reporting?",
    go: (_page, { press }) => press("link", /^\d+ silent$/),
    isAnswered: async (page) => {
      await page.getByRole("heading", { name: "Environments", level: 1 }).waitFor();
      expect(await page.getByLabel("Silent", { exact: true }).isChecked()).toBe(true);
      await page
        .getByText(/No environment matches|of \d+$/)
        .first()
        .waitFor();
    },
  },
  {
    number: 8,
    asks: "What ran here at 02:13?",
    go: async (page, { press }) => {
      await press("link", "shop-prod", "Needs attention");
      await page.getByLabel("What ran here at").fill("2090-01-01T02:13:00");
      await press("button", "What ran then");
    },
    isAnswered: async (page) => {
      await page.getByRole("heading", { name: /^Snapshot \d+$/, level: 1 }).waitFor();
    },
  },
  {
    number: 9,
    asks: "What would a stricter policy have blocked?",
    go: async (page, { press, search, write }) => {
      await search("tested-and-reviewed");
      await press("link", "Edit");
      await page.locator(".cm-editor").waitFor();
      await write(
        "Text of the policy, YAML",
        "_schema: https://x.test/v1\nartifacts:\n  attestations:\n    - type: generic\n      name: penetration-test\n",
      );
    },
    isAnswered: async (page) => {
      // Many are folded away.
      const blocked = page.locator('table[aria-label="What would fail in shop-prod"]');
      await blocked
        .getByText(/penetration-test/)
        .first()
        .waitFor({ state: "attached" });
      await page
        .getByText(/^would fail in \d+ of \d+ snapshots/)
        .first()
        .waitFor();
    },
  },
  {
    number: 10,
    asks: "Which releases lack evidence Z?",
    go: async (_page, { press, search }) => {
      await search("checkout-ci");
      await press("button", /^Trails on which sonar is missing/);
    },
    isAnswered: async (page) => {
      await page.waitForURL(/missing=sonar/);
      const matrix = page.getByRole("table", { name: "Trails of checkout-ci" });
      await expect.poll(() => matrix.getByRole("link", { name: /^sonar: Met/ }).count(), patient).toBe(0);
      const lacking = await matrix.getByRole("link", { name: /^sonar: Missing/ }).count();
      expect(lacking).toBe(await matrix.getByRole("rowheader").count());
      expect(lacking).toBeGreaterThan(0);
    },
  },
  {
    number: 11,
    asks: "How often and how fast do we deliver?",
    go: async (_page, { press, search }) => {
      await search("platform/edge/gateway");
      await press("link", "Release");
    },
    isAnswered: async (page) => {
      await page.getByText(/^\d+ deployments into \d+ environments in 28 days; \d/).waitFor();
      const fast = page.getByRole("region", { name: "Lead time from build" });
      for (const part of ["p50", "p90", "p99"])
        await fast
          .getByText(new RegExp(`^${part}\\d`))
          .or(fast.getByText(part, { exact: true }))
          .first()
          .waitFor();
      expect(await fast.locator("dd").allInnerTexts()).not.toContain("–");
    },
  },
  {
    number: 12,
    asks: "Who changed the rules?",
    go: async (_page, { press, choose }) => {
      await press("link", "Audit log", "Organization");
      await choose("Kind", "Policy");
    },
    isAnswered: async (page) => {
      await page.waitForURL(/type=policy/);
      const rows = page.getByRole("table", { name: "Writes" }).getByRole("row");
      const row = rows.filter({ has: page.getByRole("button", { name: "tested-and-reviewed" }) });
      await row.getByRole("button", { name: "admin" }).first().waitFor();
    },
  },
  {
    number: 12,
    asks: "Who was told?",
    go: async (_page, { press }) => {
      await press("link", "Actions", "Organization");
      await press("link", "production-diary");
    },
    isAnswered: async (page) => {
      const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
      await rows
        .getByRole("button", { name: /^Payload of/ })
        .first()
        .waitFor();
    },
  },
];

describe.skipIf(!hasBrowser)("the questions people come with", { timeout: 90_000 }, () => {
  let site: WebSite;
  let known: Known;
  beforeAll(async () => {
    site = await openSite();
    const answer = await fetch(
      `${site.url}/api/v2/running/${site.org}?environment=gateway-prod&provenance=known&per_page=1`,
      { headers: { authorization: `Bearer ${site.key}` } },
    );
    const { data } = (await answer.json()) as { data: { git_commit: string; fingerprint: string }[] };
    const [{ git_commit: commit, fingerprint }] = data as [(typeof data)[number]];
    known = { commit, fingerprint, environment: "gateway-prod" };
  }, 180_000);

  async function answer(question: Question, handOn: (page: Page) => Hand): Promise<Hand> {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    const hand = handOn(page);
    await question.go(page, hand, known);
    await question.isAnswered(page, known);
    expect(complaints).toEqual([]);
    return hand;
  }

  it.each(questions)("($number) two clicks or a search from the start page: $asks", async (question) => {
    const hand = await answer(question, mouseOn);
    expect(hand.steps()).toBeLessThanOrEqual(2);
  });

  it.each(everyNth(questions, amount(3, 1)))("($number) by keyboard alone: $asks", async (question) => {
    const hand = await answer(question, keyboardOn);
    expect(hand.steps()).toBeLessThanOrEqual(2);
  });
});
