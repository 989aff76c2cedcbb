import { beforeAll, describe, expect, it } from "vitest";

import { pagePaths } from "../../../web/paths.ts";
import { hasBrowser } from "../../support/browser.ts";
import { emptyStates, manyStates, unmatchedStates, visitsOf } from "../../support/page-states.ts";
import {
  aids,
  everyNth,
  unsaid,
  visitAll,
  type Visit,
  type Visitor,
  wrongLooks,
} from "../../support/page-visits.ts";
import { makeBare, makeMany } from "../../support/state-organizations.ts";
import { amount } from "../../support/thorough.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { openSite, type WebSite } from "../../support/web.ts";

async function show({ page, settle }: Visitor, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await settle();
}

/** Shows a page, and expects that it says what it should. */
async function look(visitor: Visitor, visit: Visit): Promise<string[]> {
  await show(visitor, visit.address);
  return [...(await unsaid(visitor, visit)), ...(await wrongLooks(visitor))];
}

/** Takes the network away from a page that is looked at closely, and gives it back: a bar says so, and what is shown stays. */
async function lookOffline(visitor: Visitor, visit: Visit): Promise<string[]> {
  const { page, context, settle, looksClosely } = visitor;
  if (!looksClosely) return look(visitor, visit);
  await show(visitor, visit.address);
  await unsaid(visitor, visit);
  const rows = page.locator("main :is(tr, h1, h2, li, dd, input)");
  const before = await rows.count();
  await context.setOffline(true);
  const bar = page.getByText("This machine is offline");
  await bar.waitFor();
  const after = await rows.count();
  const wrong = [...(await unsaid(visitor, visit)), ...(await wrongLooks(visitor))];
  await context.setOffline(false);
  await bar.waitFor({ state: "detached" });
  await settle();
  // What came meanwhile is no loss.
  return after >= before ? wrong : [...wrong, `of ${before} parts ${after} stay`];
}

describe.skipIf(!hasBrowser)("pages", { timeout: 300_000 }, () => {
  let site: WebSite;
  let empty: OwnOrganization;
  let bare: OwnOrganization;
  let many: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
    empty = await makeOrganization(site, "states-empty");
    bare = await makeOrganization(site, "states-bare");
    await makeBare(bare);
    many = await makeOrganization(site, "states-many");
    await makeMany(many);
  }, 240_000);

  it("say that there is nothing yet, and how to make the first", async () => {
    const visits = visitsOf(emptyStates(empty.name, bare.name));
    expect(await visitAll(site, visits, { turn: 0, look, mayComplain: /status of 404/ })).toEqual([]);
  });

  it("say that nothing matches, and offer to clear the filters", async () => {
    expect(await visitAll(site, visitsOf(unmatchedStates(many.name)), { turn: 1, look })).toEqual([]);
  });

  it("show more than fits, and keep it without a network", async () => {
    const visits = everyNth(visitsOf(manyStates(many.name)), amount(2, 1));
    expect(
      await visitAll(site, visits, {
        turn: 2,
        look: lookOffline,
        mayComplain: /net::ERR_INTERNET_DISCONNECTED|status of 404/,
      }),
    ).toEqual([]);
  });

  it("can be read with more contrast, own colours and twice as large", async () => {
    const visits = everyNth(visitsOf(manyStates(many.name)), amount(6, 3));
    expect(
      await visitAll(site, visits, {
        turn: 1,
        views: aids,
        look,
        closeStep: 1,
        mayComplain: /status of 404/,
      }),
    ).toEqual([]);
  });

  it("are all looked at", () => {
    const seen = visitsOf(emptyStates("", "")).map(({ pattern }) => pattern);
    expect(seen).toEqual(pagePaths.filter((path) => path.startsWith("/$org")));
  });
});
