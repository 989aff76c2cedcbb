import { existsSync } from "node:fs";

import { type Browser, chromium as driver } from "playwright-core";

import { folderOnDisk } from "./memory-folder.ts";

/** Finds the browser of the package, which unpacks it, and the libraries that a bare machine lacks, once a machine. */
async function unpackBrowser(): Promise<string> {
  const { TMPDIR } = process.env;
  process.env["AWS_LAMBDA_JS_RUNTIME"] ??= "nodejs20.x";
  process.env["TMPDIR"] = folderOnDisk();
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    return await chromium.executablePath();
  } finally {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  }
}

/**
 * Finds the browser that tests drive: the one that `WAYBILL_CHROMIUM` names, else the one that comes as a package for Linux on
 * x64. Undefined elsewhere, where tests in a browser are skipped, unless `WAYBILL_REQUIRE_BROWSER` makes that an error.
 */
async function findBrowser(): Promise<string | undefined> {
  const named = process.env["WAYBILL_CHROMIUM"];
  if (named !== undefined && named !== "") {
    if (!existsSync(named)) throw new Error(`WAYBILL_CHROMIUM names ${named}, which does not exist`);
    return named;
  }
  if (process.platform === "linux" && process.arch === "x64") return unpackBrowser();
  if (process.env["WAYBILL_REQUIRE_BROWSER"] === "1")
    throw new Error("There is no browser for this machine: WAYBILL_CHROMIUM names one");
  return undefined;
}

const executablePath = await findBrowser();

/** Whether this machine has a browser. Tests that need one say `describe.skipIf(!hasBrowser)`. */
export const hasBrowser = executablePath !== undefined;
if (!hasBrowser) console.warn("Tests in a browser are skipped: WAYBILL_CHROMIUM names none");

/** Nothing may be looked up or fetched but what a test asks for. */
const quiet = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/**
 * What this browser is to do without. The driver's own list does not count beside this one, so that what matters of it here is in it. With
 * `RenderDocument` a tab never lets go of the worlds of scripts that the driver has made for the pages before: the tenth page has ten of them
 * to make, which is a third of what opening it takes.
 */
const without = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "RenderDocument",
  "ThirdPartyStoragePartitioning",
];

/** Pages of one profile are drawn by one process, which has compiled the app already. */
const warm = ["--process-per-site", `--disable-features=${without.join(",")}`];

let opened: Promise<Browser> | undefined;

/** Opens the browser, once a process; it ends with the process. @param isMeasured whether each page is to start from nothing. */
export function openBrowser(isMeasured = false): Promise<Browser> {
  if (executablePath === undefined) throw new Error("This machine has no browser");
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  opened ??= driver.launch({ executablePath, args: [...quiet, ...(isMeasured ? [] : warm), ...asRoot] });
  return opened;
}
