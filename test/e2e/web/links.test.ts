import { beforeAll, describe, expect, it } from "vitest";

import { pagePaths } from "../../../web/paths.ts";
import { hasBrowser } from "../../support/browser.ts";
import { demoReads, readerOf } from "../../support/demo-reads.ts";
import { linksIn } from "../../support/links-in.ts";
import { findOperation } from "../../support/operations.ts";
import { openSite, untilSettled, type WebSite } from "../../support/web.ts";

const patterns = pagePaths.map((path): [string, RegExp] => [
  path,
  new RegExp(`^${path.replace(/\/\$$/, "/.+").replace(/\$\w+/g, "[^/]+")}$`),
]);

/** Addresses of answers that are not for reading: where others send to. */
const notOpened = /\/api\/v2\/webhooks\//;

/** Where an address was found: operations that answered it, and what kind of address it is. */
interface Found {
  /** Path and query. */
  path: string;
  operations: ReadonlySet<string>;
}

function namesIn(search: URLSearchParams): string {
  return [...new Set(search.keys())].toSorted().join("&");
}

/** Says of which kind an address is: the pattern of its page, or the operation, and what else it says. Undefined for none of ours. */
function kindOf(path: string): string | undefined {
  const { pathname, searchParams } = new URL(path, "http://x");
  const kind = pathname.startsWith("/api/")
    ? findOperation("GET", pathname)
    : patterns.find(([, pattern]) => pattern.test(pathname))?.[0];
  return kind === undefined ? undefined : `${kind}?${namesIn(searchParams)}`;
}

/** Chooses as few addresses as show each kind that each operation answers. */
function sampleOf(all: readonly { operation: string; path: string }[]): Found[] {
  const chosen = new Map<string, Set<string>>();
  const covered = new Set<string>();
  for (const { operation, path } of all) {
    const pair = `${operation} ${kindOf(path)}`;
    if (!chosen.has(path) && covered.has(pair)) continue;
    covered.add(pair);
    chosen.set(path, (chosen.get(path) ?? new Set()).add(operation));
  }
  return [...chosen].map(([path, operations]) => ({ path, operations }));
}

const short = (text: string): string =>
  text.replaceAll(/\b[a-f0-9]{40,64}\b/g, (digest) => digest.slice(0, 7));

type Opened = Awaited<ReturnType<WebSite["open"]>>;

/** What a browser sends when somebody opens an address. */
const asPerson = { "sec-fetch-dest": "document", accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe.skipIf(!hasBrowser)("addresses in answers", { timeout: 180_000 }, () => {
  let site: WebSite;
  let pages: Found[];
  let calls: Found[];
  let answered: Set<string>;
  beforeAll(async () => {
    site = await openSite();
    const read = readerOf(site);
    // The server knows itself by this name.
    const own = site.url.replace("127.0.0.1", "localhost");
    const all: { operation: string; path: string }[] = [];
    answered = new Set();
    for (const { operation, path, isCsv } of await demoReads(site)) {
      const answer = await read(path, isCsv ? { accept: "text/csv" } : {});
      const links = await linksIn(answer, own);
      for (const link of links) all.push({ operation, path: link.slice(own.length) });
      if (links.length > 0) answered.add(operation);
    }
    const sample = sampleOf(all.filter(({ path }) => !notOpened.test(path)));
    calls = sample.filter(({ path }) => path.startsWith("/api/"));
    pages = sample.filter(({ path }) => !path.startsWith("/api/"));
  }, 240_000);

  /** Gives what the page of an address calls the thing, as the API names it. */
  async function headingOf(path: string): Promise<string> {
    const get = async <T>(address: string): Promise<T> => (await (await readerOf(site)(address)).json()) as T;
    const { pathname, search } = new URL(path, site.url);
    const [, org, list = "", first = "", part = "", second = ""] = pathname
      .split("/")
      .map(decodeURIComponent);
    if (first === "") return `${list.charAt(0).toUpperCase()}${list.slice(1)}`;
    if (list === "commits") return `Commit ${short(first)}`;
    if (list === "repos") return pathname.split("/").slice(3).map(decodeURIComponent).join("/");
    if (list === "controls") return (await get<{ name: string }>(`/controls/${org}/${first}`)).name;
    if (second === "") return first;
    if (part === "snapshots") return `Snapshot ${second}`;
    if (part === "artifacts")
      return (await get<{ filename: string }>(`/artifacts/${org}/${first}/fingerprint/${second}${search}`))
        .filename;
    return short(second);
  }

  /** Opens an address in a page. @returns what is wrong there. */
  async function problemsAt({ page, complaints }: Opened, path: string): Promise<string[]> {
    complaints.length = 0;
    const answer = await page.goto(path);
    const problems = answer?.status() === 200 ? [] : [`status ${answer?.status()}`];
    const heading = page.getByRole("heading", { level: 1 }).first();
    const named = await headingOf(path);
    await expect.poll(() => heading.textContent(), { timeout: 30_000 }).toBe(named);
    await untilSettled(page);
    const id = new URL(path, site.url).searchParams.get("attestation_id");
    if (id !== null && path.includes("/trails/"))
      await page.getByRole("dialog").getByText(id).first().waitFor();
    if ((await page.getByText("This is not here").count()) > 0) problems.push("is not here");
    // Of an environment that nobody has reported on there is no snapshot, which a browser says of the request.
    const isUnreported = (await page.getByText("Nobody has reported what runs here").count()) > 0;
    return [...problems, ...complaints.filter((one) => !isUnreported || !one.includes("status of 404"))];
  }

  it("are in so many answers as they are in, each of a kind that there is", () => {
    const strange = [...pages, ...calls].filter(({ path }) => kindOf(path) === undefined);
    expect(strange).toEqual([]);
    expect(answered.size).toBeGreaterThan(55);
    const kinds = new Set(pages.map(({ path }) => kindOf(path)));
    // Those that the API has always given to people.
    for (const kind of [
      "/$org/flows/$flow?",
      "/$org/flows/$flow/trails/$trail?",
      "/$org/flows/$flow/trails/$trail?attestation_id",
      "/$org/flows/$flow/artifacts/$fingerprint?",
      "/$org/flows/$flow/artifacts/$fingerprint?artifact_id",
      "/$org/environments/$env?",
      "/$org/environments/$env/snapshots/$expression?",
    ])
      expect(kinds).toContain(kind);
  });

  it("lead to the page of what they name", async () => {
    const opened = await site.open();
    for (const { path, operations } of pages) {
      const where = `${path} of ${[...operations].join(", ")}`;
      expect(await problemsAt(opened, path), where).toEqual([]);
    }
  });

  it("of the API lead a person to the page, or answer JSON or a file", async () => {
    const led: { operation: string; path: string }[] = [];
    for (const { path } of calls) {
      const answer = await fetch(site.url + path, {
        headers: { ...asPerson, authorization: `Bearer ${site.key}` },
        redirect: "manual",
      });
      const to = answer.headers.get("location");
      if (answer.status === 303 && to !== null) {
        const { pathname, search } = new URL(to);
        led.push({ operation: "", path: pathname + search });
        continue;
      }
      const isAnswer =
        answer.headers.get("content-type")?.startsWith("application/json") === true ||
        answer.headers.get("content-disposition")?.startsWith("attachment") === true;
      expect([answer.status, isAnswer], path).toEqual([200, true]);
      await answer.body?.cancel();
    }
    expect(led.length).toBeGreaterThan(5);
    const opened = await site.open();
    for (const { path } of sampleOf(led)) expect(await problemsAt(opened, path), path).toEqual([]);
  });
});
