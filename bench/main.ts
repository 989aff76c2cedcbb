// `npm run bench`: how fast the built program is, with a lot of data, against promises made beforehand.
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { Argument, Command, InvalidArgumentError, Option } from "commander";

import { backupCommand } from "./backup.ts";
import { type Filling, listsFilling, orgs, prepareData, type Size, sizes } from "./data.ts";
import { type Setting, warmUp } from "./measure.ts";
import { processFilling, processOrgs } from "./process-data.ts";
import { type Server, startServer, stopAll } from "./processes.ts";
import { asMarkdown, asText, type Report } from "./report.ts";
import { runtimeFilling, runtimeOrgs } from "./runtime-data.ts";
import { scaleCommand } from "./scale/command.ts";
import type { Scenario } from "./scenario.ts";
import { artifactsScenario } from "./scenarios/artifacts.ts";
import { buildsScenario } from "./scenarios/builds.ts";
import { environmentsScenario } from "./scenarios/environments.ts";
import { describeMemoryAfterLoad, measureMemoryAtRest } from "./scenarios/memory.ts";
import { processScenario } from "./scenarios/process.ts";
import { ratiosScenario } from "./scenarios/ratios.ts";
import { runtimeScenario } from "./scenarios/runtime.ts";
import { measureServers, serversFilling, serversTable } from "./scenarios/servers.ts";
import { measureStart } from "./scenarios/start.ts";
import { measureTraces, tracesFilling } from "./scenarios/traces.ts";
import { snapshotViewsScenario, trailViewsScenario, viewsScenario } from "./scenarios/views.ts";

const scenarios = [environmentsScenario, buildsScenario, artifactsScenario, viewsScenario];

/** A scenario that is measured on a server of its own, with data of its own. */
interface Part {
  scenario: Scenario;
  filling: Filling;
  warmUp: string;
}

const ofProcess = {
  filling: processFilling,
  warmUp: `/api/v2/flows/${processOrgs.large}?per_page=50`,
};
const ofRuntime = {
  filling: runtimeFilling,
  warmUp: `/api/v2/environments/${runtimeOrgs.runtime}?per_page=50`,
};

const parts: Part[] = [
  { scenario: processScenario, ...ofProcess },
  { scenario: runtimeScenario, ...ofRuntime },
  { scenario: ratiosScenario, ...ofRuntime },
  { scenario: trailViewsScenario, ...ofProcess },
  { scenario: snapshotViewsScenario, ...ofRuntime },
];
const partNames = parts.map(({ scenario }) => scenario.name);
const onServer = ["memory", ...scenarios.map(({ name }) => name)];
const names = ["start", ...onServer, "web", ...partNames, "servers", "traces"];

const serversLegend =
  "servers: many of them on one PostgreSQL, with 64 connections in all or to each. By the model each has a processor of its own, and PostgreSQL sixteen.";

const tracesLegend =
  "traces: processor time of Node for a request that is found each time, in turn, round by round; the middle one, and the middle difference.";

const legend =
  "bare/s: a node:http server that makes the same objects into text for every request, measured right after. " +
  "µs: processor time of one request on the answering side; with the load generator it has to fit into the cores.";

const webLegend =
  "Pages: the middle one of 9 times, in a browser that has the app's files, from the start of the navigation, the click or the key " +
  "until everything was drawn. Slowest: the slowest of its requests of the API. By hand: a page without any library that asks a " +
  "bare server for the same objects and writes them into a table, in the same browser right after.";

interface Options {
  data: string;
  fresh: boolean;
  seconds: number;
  rounds: number;
  only: string[];
  size: Size["name"];
  out?: string;
}

type Given = Omit<Options, "only"> & Partial<Pick<Options, "only">>;

function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 60)
    throw new InvalidArgumentError("It is a whole number from 1 to 60.");
  return value;
}

function odd(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 9 || value % 2 === 0)
    throw new InvalidArgumentError("It is an odd number from 1 to 9.");
  return value;
}

function settingOf(server: Server, { seconds, rounds }: Options): Setting {
  return { server, url: server.url, key: server.key, seconds, rounds };
}

async function measureRunning(dataDir: string, options: Options, report: Report): Promise<void> {
  const server = await startServer(dataDir);
  try {
    const setting = settingOf(server, options);
    if (options.only.includes("memory")) report.verdicts.push(...(await measureMemoryAtRest(setting)));
    await warmUp(setting, [
      `/api/v2/environments/${orgs.large}?per_page=50`,
      `/api/v2/builds/${orgs.large}?per_page=50`,
    ]);
    for (const scenario of scenarios.filter(({ name }) => options.only.includes(name)))
      await runScenario(scenario, setting, report);
    if (options.only.includes("memory")) report.remarks.push(await describeMemoryAfterLoad(setting));
  } finally {
    await server.stop();
  }
}

async function runScenario(scenario: Scenario, setting: Setting, report: Report): Promise<void> {
  console.log(`Measuring ${scenario.name}`);
  const { figures, verdicts } = await scenario.run(setting);
  report.figures.push(...figures);
  report.verdicts.push(...verdicts);
}

/** Measures everything that uses the data of lists. */
async function measureLists(folder: string, options: Options, report: Report): Promise<void> {
  const size = sizes[options.size];
  const dataDir = await prepareData(folder, listsFilling(size), options.fresh);
  if (options.only.includes("start")) {
    console.log("Measuring start");
    report.verdicts.push(...(await measureStart(dataDir)));
  }
  if (onServer.some((name) => options.only.includes(name))) await measureRunning(dataDir, options, report);
  if (options.only.includes("web")) await measurePages(dataDir, size, report);
}

async function measurePages(dataDir: string, size: Size, report: Report): Promise<void> {
  // Unpacks a browser, which nothing else needs.
  const { hasBrowser, measureWeb } = await import("./scenarios/web.ts");
  if (!hasBrowser) {
    report.remarks.push("Pages were not measured: there is no browser.");
    return;
  }
  console.log("Measuring web");
  const { figures, verdicts, remarks } = await measureWeb(dataDir, orgs.large, size);
  report.pages.push(...figures);
  report.verdicts.push(...verdicts);
  report.remarks.push(webLegend, ...remarks);
}

async function measurePart(part: Part, folder: string, options: Options, report: Report): Promise<void> {
  const server = await startServer(await prepareData(folder, part.filling, options.fresh));
  try {
    const setting = settingOf(server, options);
    await warmUp(setting, [part.warmUp]);
    await runScenario(part.scenario, setting, report);
  } finally {
    await server.stop();
  }
}

/** Measures several servers on one PostgreSQL. */
async function measureSeveral(folder: string, options: Options, report: Report): Promise<void> {
  const dataDir = await prepareData(folder, serversFilling, options.fresh);
  console.log("Measuring servers");
  const { figures, verdicts } = await measureServers(dataDir, options);
  report.verdicts.push(...verdicts);
  report.remarks.push(serversLegend, serversTable(figures));
}

/** Measures what traces cost. */
async function measureTracing(folder: string, options: Options, report: Report): Promise<void> {
  const dataDir = await prepareData(folder, tracesFilling, options.fresh);
  console.log("Measuring traces");
  const { table, verdicts } = await measureTraces(dataDir, options);
  report.verdicts.push(...verdicts);
  report.remarks.push(tracesLegend, table);
}

async function bench(options: Options): Promise<void> {
  const folder = resolve(options.data);
  await mkdir(folder, { recursive: true });
  const report: Report = {
    figures: [],
    pages: [],
    verdicts: [],
    remarks: options.only.some((name) => name !== "web") ? [legend] : [],
    secondsEach: options.seconds,
    rounds: options.rounds,
  };
  if (options.only.some((name) => !["servers", "traces", ...partNames].includes(name)))
    await measureLists(folder, options, report);
  for (const part of parts.filter(({ scenario }) => options.only.includes(scenario.name)))
    await measurePart(part, folder, options, report);
  if (options.only.includes("servers")) await measureSeveral(folder, options, report);
  if (options.only.includes("traces")) await measureTracing(folder, options, report);
  console.log(`\n${asText(report)}`);
  if (options.out !== undefined) await writeFile(options.out, asMarkdown(report));
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));

const command = new Command("bench")
  .description("measure the built program")
  .option("--data <folder>", "where the data is kept between runs", join(tmpdir(), "waybill-bench"))
  .option("--fresh", "make the data anew", false)
  .addOption(new Option("--seconds <n>", "how long each measurement takes").argParser(seconds).default(4))
  .addOption(
    new Option("--rounds <n>", "how many of each, of which the middle one counts").argParser(odd).default(3),
  )
  .addArgument(new Argument("[names...]", "what to measure; everything unless given").choices(names))
  .addOption(new Option("--only <names...>", "the same").choices(names))
  .addOption(
    new Option(
      "--size <size>",
      "how much the lists have; small is made in a minute and compares with nothing",
    )
      .choices(Object.keys(sizes))
      .default("full" satisfies Size["name"]),
  )
  .option("--out <file>", "write the figures to a Markdown file, too")
  .action((given: string[], { only = [], ...options }: Given) => {
    const chosen = [...given, ...only];
    return bench({ ...options, only: chosen.length === 0 ? names : chosen });
  });
// They have options of the same names.
command.enablePositionalOptions().addCommand(scaleCommand()).addCommand(backupCommand());

try {
  await command.parseAsync();
} finally {
  await stopAll();
}
