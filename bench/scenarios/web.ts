import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { BrowserContext } from "playwright-core";

import { layOutRanks } from "../../web/domain/layout.ts";
import type { Size } from "../data.ts";
import { type Server, startServer } from "../processes.ts";
import { below, type Verdict } from "../scenario.ts";
import { withBareSite } from "../web/bare.ts";
import { prepareWebData, shown, type WebNames } from "../web/data.ts";
import { clickOn, measurePalette, measureScrolling, measureTyping } from "../web/interactions.ts";
import {
  type Judged,
  measureAct,
  measureGoing,
  measureOpening,
  median,
  type PageFigure,
  type Place,
  type Site,
  withinBudget,
} from "../web/measure.ts";
import { measureMemory } from "../web/memory.ts";
import {
  differences,
  environmentsChanged,
  environmentsList,
  explanation,
  flowsList,
  matrixOf,
  type Sight,
  signInPage,
  snapshotOf,
  startPage,
} from "../web/sights.ts";
import { type Act, openPage, openVisit, signIn } from "../web/visitor.ts";

export { hasBrowser } from "../../test/support/browser.ts";

/** What is measured, and of what. */
interface Subject {
  site: Site;
  /** The organization with the long lists. */
  org: string;
  environments: number;
  /** Of one of them. */
  name: string;
  names: WebNames;
}

/** What was found, with a remark for what is no figure. */
export interface WebOutcome extends Judged {
  remarks: string[];
}

/** Milliseconds that things may take in the median. */
const budgets = {
  page: 300,
  snapshot: 500,
  act: 50,
  actAtWorst: 100,
  going: 100,
  filtered: 150,
  start: 1000,
  layout: 10,
} as const;
const requestsOfPage = 4;

function snapshotPlace({ names }: Subject): Place & { answer: string } {
  const { org, environment } = names;
  return {
    path: `/${org}/environments/${environment}/snapshots/latest`,
    sight: snapshotOf(shown.artifacts),
    answer: `/api/v2/snapshots/${org}/${environment}/-1?rules=once`,
  };
}

const listPlace = ({ org }: Subject): Place => ({ path: `/${org}/environments`, sight: environmentsList });
const inNavigation = (path: string): string => `nav[aria-label="Organization"] a[href="${path}"]`;

/** What makes a figure, and how many milliseconds it may have in the median. */
type Judgeable = [measure: () => Promise<PageFigure>, budget: number];

/** Measures one after the other. */
async function judgeAll(measures: readonly Judgeable[]): Promise<Judged> {
  const figures: PageFigure[] = [];
  const verdicts: Verdict[] = [];
  for (const [measure, budget] of measures) {
    const figure = await measure();
    figures.push(figure);
    verdicts.push(withinBudget(figure, budget));
  }
  return { figures, verdicts };
}

/** Opens addresses in new pages. */
async function measureOpenings(subject: Subject): Promise<Judged> {
  const { site, org, environments, names } = subject;
  const count = environments.toLocaleString("en");
  const snapshot = snapshotPlace(subject);
  const diff = `/${names.org}/diff?from=${names.other}&to=${names.environment}`;
  const openings: [what: string, path: string, sight: Sight, budget: number][] = [
    [`start page of ${count} environments, opened`, `/${org}`, startPage, budgets.page],
    [`list of ${count} environments, opened`, `/${org}/environments`, environmentsList, budgets.page],
    [`snapshot of ${shown.artifacts} artifacts, opened`, snapshot.path, snapshot.sight, budgets.snapshot],
    [`difference of ${shown.artifacts} and ${shown.artifacts}, opened`, diff, differences, budgets.page],
    [
      `matrix of ${shown.trails} by ${shown.attestations}, opened`,
      `/${names.org}/flows/${names.flow}`,
      matrixOf(shown.trails),
      budgets.page,
    ],
  ];
  const { figures, verdicts } = await judgeAll(
    openings.map(([what, path, sight, budget]) => [() => measureOpening(site, what, path, sight), budget]),
  );
  const requests = Math.max(...figures.map((figure) => figure.requests));
  verdicts.push({
    what: "web: requests of a page",
    target: `at most ${requestsOfPage}`,
    measured: String(requests),
    met: requests <= requestsOfPage,
  });
  return { figures, verdicts };
}

/** Filters and turns pages of the long list. */
async function measureLists(subject: Subject): Promise<Judged> {
  const { site, environments, name } = subject;
  const list = listPlace(subject);
  const lists: [what: string, query: string, budget: number][] = [
    [`page ${(environments / 50).toLocaleString("en")}`, `page=${environments / 50}`, budgets.going],
    ["by the name of one", `name=${encodeURIComponent(name)}`, budgets.filtered],
    ["by a part of the name that a sixth has", "name=eu-west", budgets.filtered],
    ["by a tag that a fifth has", "tag=stage%3Aprod", budgets.filtered],
    ["silent ones", "stale=true", budgets.filtered],
  ];
  return judgeAll(
    lists.map(([what, query, budget]) => {
      const title = `${environments.toLocaleString("en")} environments: ${what}`;
      const to = { path: `${list.path}?${query}`, sight: environmentsChanged };
      return [() => measureGoing(site, title, list, to), budget];
    }),
  );
}

/** Goes from page to page by links that the pointer rested on, and opens an explanation. */
async function measureClicks(subject: Subject): Promise<Judged> {
  const { site, org, names } = subject;
  const start: Place = { path: `/${org}`, sight: startPage };
  const list = listPlace(subject);
  const own: Place = { path: `/${names.org}/environments`, sight: environmentsList };
  const row = `main tr[data-row] a[href="${own.path}/${names.environment}"]`;
  const clicks: [what: string, from: Place, selector: string, sight: Sight][] = [
    ["start page to environments", start, inNavigation(list.path), environmentsList],
    ["environments to flows", list, inNavigation(`/${org}/flows`), flowsList],
    [`environments to one with ${shown.artifacts} artifacts`, own, row, snapshotOf(shown.artifacts)],
  ];
  const why: Act = { event: "click", run: (page) => page.click('main button[aria-label^="Why"]') };
  return judgeAll([
    ...clicks.map(([what, from, selector, sight]): Judgeable => [
      () => measureAct(site, what, from, { act: clickOn(selector), sight }),
      budgets.going,
    ]),
    [
      () =>
        measureAct(site, `why of one of ${shown.artifacts}`, snapshotPlace(subject), {
          act: why,
          sight: explanation,
        }),
      budgets.going,
    ],
  ]);
}

function pagesOf({ org, names }: Subject): string[] {
  const lists = ["", "/running", "/changes", "/flows", "/trails", "/attestations", "/repos", "/policies"];
  const others = ["/controls", "/attestation-types", "/allow-list", "/actions", "/spaces", "/audit-log"];
  const first = `/${names.org}/environments/${names.environment}`;
  return [
    ...[...lists, ...others].map((page) => `/${org}${page}?page=#`),
    `/${org}/environments?page=#`,
    first,
    `${first}/snapshots/#`,
    `${first}/log?page=#`,
    `/${names.org}/diff?from=${names.environment}%23#&to=${names.other}`,
    `/${names.org}/flows/${names.flow}`,
  ];
}

/** Starts a server and opens an address of it at once. @returns milliseconds from its being ready until that was drawn. */
async function firstPage(
  dataDir: string,
  context: BrowserContext,
  path: string,
  sight: Sight,
): Promise<number> {
  const server = await startServer(dataDir);
  try {
    const ready = performance.timeOrigin + performance.now();
    const { page, sample } = await openPage(context, server.url + path, sight);
    const begun = await page.evaluate<number>("performance.timeOrigin");
    await page.close();
    return begun + sample.ms - ready;
  } finally {
    await server.stop();
  }
}

async function firstPageWithoutData(): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "waybill-bench-web-"));
  const context = await openVisit();
  try {
    await chmod(dataDir, 0o755);
    return await firstPage(dataDir, context, "/-/sign-in", signInPage);
  } finally {
    await context.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Measures how long a picture of 200 things and 600 lines takes to be laid out, which is done at once when it is shown. */
function measureLayout(): Verdict {
  const nodes = Array.from({ length: 200 }, (_, index) => ({ id: `n${index}`, rank: index % 5 }));
  const edges = nodes.flatMap(({ id }, index) =>
    [1, 2, 3].map((by) => ({ from: id, to: `n${(index + by * 7) % 200}` })),
  );
  const sizes = { width: 1000, nodeWidth: 150, nodeHeight: 46, rowGap: 8, rankGap: 32, laneHeight: 8 };
  const times = Array.from({ length: 9 }, () => {
    const begun = performance.now();
    layOutRanks(nodes, edges, sizes);
    return performance.now() - begun;
  });
  return below("web: picture of 200 things and 600 lines, laid out", median(times), budgets.layout, " ms");
}

const starts = 3;

/** Measures how soon after the server is ready somebody sees something: with nothing in it, and with all data. */
async function measureFirstPages(dataDir: string, context: BrowserContext, org: string): Promise<Verdict[]> {
  console.log("  first page after a start");
  const [empty, full]: [number[], number[]] = [[], []];
  for (let time = 0; time < starts; time += 1) {
    empty.push(await firstPageWithoutData());
    full.push(await firstPage(dataDir, context, `/${org}`, startPage));
  }
  return [
    below("web: first page after a start with no data", median(empty), budgets.start, " ms"),
    below("web: first page after a start with all data", median(full), budgets.start, " ms"),
  ];
}

/** Measures what a running server's pages take. */
async function measurePages(subject: Subject): Promise<WebOutcome> {
  const { site, names } = subject;
  const parts = [
    await measureOpenings(subject),
    await measureTyping(site, snapshotPlace(subject), [budgets.act, budgets.actAtWorst]),
    await measurePalette(site, listPlace(subject), budgets.act),
    await measureLists(subject),
    await measureClicks(subject),
    await measureScrolling(site, `/${names.org}/flows/${names.flow}`),
  ];
  const memory = await measureMemory(site, listPlace(subject), pagesOf(subject));
  return {
    figures: parts.flatMap(({ figures }) => figures),
    verdicts: [...parts.flatMap(({ verdicts }) => verdicts), ...memory.verdicts],
    remarks: [memory.remark],
  };
}

async function nameInTheMiddle({ url, key }: Server, org: string, { environments }: Size): Promise<string> {
  const path = `/api/v2/environments/${org}?per_page=1&page=${environments / 2}`;
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  const answer = (await response.json()) as { environments: { name: string }[] };
  return answer.environments[0]!.name;
}

async function measureOn(
  server: Server,
  context: BrowserContext,
  org: string,
  size: Size,
): Promise<WebOutcome> {
  const names = await prepareWebData(server, size.name);
  const name = await nameInTheMiddle(server, org, size);
  await signIn(context, server);
  const { environments } = size;
  return withBareSite(server, (bare) =>
    measurePages({ site: { url: server.url, context, bare }, org, environments, name, names }),
  );
}

/** Measures the web app in a browser, on the data of lists and some of its own. */
export async function measureWeb(dataDir: string, org: string, size: Size): Promise<WebOutcome> {
  const context = await openVisit();
  try {
    const server = await startServer(dataDir);
    let outcome: WebOutcome;
    try {
      outcome = await measureOn(server, context, org, size);
    } finally {
      await server.stop();
    }
    const first = await measureFirstPages(dataDir, context, org);
    return { ...outcome, verdicts: [...outcome.verdicts, ...first, measureLayout()] };
  } finally {
    await context.browser()?.close();
  }
}
