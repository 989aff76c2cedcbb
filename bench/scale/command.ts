import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { Command, InvalidArgumentError, Option } from "commander";

import { withDatabase } from "../data.ts";
import { startServer } from "../processes.ts";
import { withClient, withPostgres } from "./connection.ts";
import { type IngestFigures, measureIngest } from "./ingest.ts";
import { makeEpochs, type MakeTimes } from "./make.ts";
import { predict, type Prediction } from "./model.ts";
import { measureHotReads, type ReadFigure } from "./reads.ts";
import { readSeed, type SeedRows } from "./seed-rows.ts";
import { reportSeed, scaleOrg } from "./seed.ts";
import { readSizes, type TableSize } from "./sizes-sql.ts";

/** What is known of an amount of builds. Steps that were done are not done again. */
interface Result {
  builds: number;
  make?: MakeTimes & { sizes: TableSize[] };
  reads?: ReadFigure[];
  ingest?: IngestFigures;
}

const steps = ["make", "read", "ingest"] as const;
type Step = (typeof steps)[number];

interface Options {
  builds: number;
  data: string;
  steps: Step[];
  seconds: number;
  seed: number;
  keep: boolean;
}

interface Place {
  folder: string;
  /** Of the server that all is reported to, and of the one with its multiple. */
  seedDir: string;
  dataDir: string;
  resultFile: string;
}

function placeOf({ data, builds, seed }: Options): Place {
  const folder = resolve(data);
  return {
    folder,
    seedDir: join(folder, `seed-${seed}`),
    dataDir: join(folder, `made-${builds}`),
    resultFile: join(folder, `scale-${builds}.json`),
  };
}

async function readResult(file: string): Promise<Result | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Result);
}

/** Reports builds to a new server, once for all amounts. @returns what was written then. */
async function prepareSeed({ seedDir }: Place, builds: number): Promise<SeedRows> {
  const marker = `${seedDir}-complete`;
  if ((await readFile(marker, "utf8").catch(() => "")) === "") {
    console.log(`Reporting ${builds} builds`);
    await rm(seedDir, { recursive: true, force: true });
    await mkdir(seedDir, { recursive: true, mode: 0o755 });
    const server = await startServer(seedDir);
    try {
      await reportSeed(server, builds);
    } finally {
      await server.stop();
    }
    await writeFile(marker, "complete");
  }
  return withPostgres(seedDir, {}, (connection) =>
    withClient(connection, (client) => readSeed(client, scaleOrg)),
  );
}

async function make(place: Place, { builds, seed }: Options): Promise<NonNullable<Result["make"]>> {
  const rows = await prepareSeed(place, seed);
  console.log(`Making ${builds} builds`);
  await rm(place.dataDir, { recursive: true, force: true });
  await cp(place.seedDir, place.dataDir, { recursive: true });
  const times = await makeEpochs(place.dataDir, rows, Math.max(2, Math.round(builds / rows.counts.builds)));
  const sizes = await withPostgres(place.dataDir, {}, (connection) => withClient(connection, readSizes));
  return { ...times, sizes };
}

/** Makes a multiple of a company's reports, unless it is there. @returns the data directory that has it. */
export async function prepareMultiple(options: Pick<Options, "builds" | "data" | "seed">): Promise<string> {
  const whole = { ...options, steps: ["make"] as Step[], seconds: 0, keep: true };
  const place = placeOf(whole);
  await mkdir(place.folder, { recursive: true, mode: 0o755 });
  const result: Result = (await readResult(place.resultFile)) ?? { builds: options.builds };
  await ensureMade(place, whole, result);
  return place.dataDir;
}

async function ensureMade(place: Place, options: Options, result: Result): Promise<void> {
  const isThere = (await readdir(place.dataDir).catch(() => [])).length > 0;
  if (result.make !== undefined && isThere) return;
  result.make = await make(place, options);
  await writeFile(place.resultFile, JSON.stringify(result, undefined, 2));
}

/** Starts the server on what was made and measures, as far as asked for and not known already. */
async function measureMade(place: Place, options: Options, result: Result): Promise<void> {
  const wants = (step: Step): boolean => options.steps.includes(step);
  if (!wants("read") && !wants("ingest")) return;
  // An answer that is given from memory costs the same however much there is.
  const server = await startServer(place.dataDir, { env: { WAYBILL_KEPT_ANSWER_BYTES: "0" } });
  try {
    const setting = { server, url: server.url, key: server.key, seconds: 2, rounds: 1 };
    await withDatabase(place.dataDir, async (db) => {
      if (wants("read")) {
        console.log("Measuring reads");
        result.reads = await measureHotReads(db, setting);
      }
      await writeFile(place.resultFile, JSON.stringify(result, undefined, 2));
      if (!wants("ingest")) return;
      console.log("Measuring reports");
      result.ingest = await measureIngest(db, setting, options.seconds);
    });
  } finally {
    await server.stop();
  }
}

/** Names what is predicted, in the figures' own units. */
function figuresOf({ make: made, reads = [], ingest }: Result): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const { table, heap, indexes } of made?.sizes ?? [])
    // Tables that do not grow are too small for the line to matter.
    if (heap + indexes > 20_000_000) figures[`bytes of ${table}`] = heap + indexes;
  if (made !== undefined) {
    figures["bytes of all tables"] = made.sizes.reduce((sum, { heap, indexes }) => sum + heap + indexes, 0);
    figures["seconds of making"] = made.copy + made.indexes + made.totals;
  }
  for (const { name, p50, postgres } of reads) {
    figures[`${name}, p50 in ms`] = p50;
    figures[`${name}, PostgreSQL in µs`] = postgres;
  }
  if (ingest !== undefined) {
    figures["reports at 64 connections a second"] = ingest.most;
    figures["reports at half load, p50 in ms"] = ingest.p50;
    figures["reports at half load, p99 in ms"] = ingest.p99;
  }
  return figures;
}

async function readResults(folder: string): Promise<Result[]> {
  const names = (await readdir(folder)).filter((name) => /^scale-\d+\.json$/.test(name));
  const results = await Promise.all(names.map((name) => readResult(join(folder, name))));
  return results.filter((result) => result !== undefined);
}

function tell(predictions: readonly Prediction[]): void {
  for (const { figure, predicted, measured, off, failed } of predictions)
    console.log(
      `${failed ? "OFF " : "    "}${figure}: ${measured.toPrecision(4)}, predicted ${predicted.toPrecision(4)} (${(off * 100).toFixed(0)} % off)`,
    );
  const failed = predictions.filter((prediction) => prediction.failed);
  if (failed.length > 0)
    console.log(
      `The model is wrong for ${failed.length} of ${predictions.length} figures, marked with OFF above.`,
    );
}

async function scale(options: Options): Promise<void> {
  const place = placeOf(options);
  await mkdir(place.folder, { recursive: true, mode: 0o755 });
  const result: Result = (await readResult(place.resultFile)) ?? { builds: options.builds };
  const save = (): Promise<void> => writeFile(place.resultFile, JSON.stringify(result, undefined, 2));
  await ensureMade(place, options, result);
  await measureMade(place, options, result);
  await save();
  if (!options.keep) await rm(place.dataDir, { recursive: true, force: true });
  const results = await readResults(place.folder);
  if (results.length < 3) return;
  console.log(`\nPredicted from ${results.length - 1} sizes`);
  const sizes = results.map((one) => ({ builds: one.builds, figures: figuresOf(one) }));
  tell(predict(sizes));
}

/** Reads a whole number of the command line. */
export function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
}

/** Makes the command that measures the program with a multiple of what was reported. */
export function scaleCommand(): Command {
  return new Command("scale")
    .description(
      "make a multiple of a company's reports and measure with it; each amount adds to the model of how figures grow",
    )
    .addOption(
      new Option("--builds <n>", "how many").argParser(whole(1_000, 1_000_000_000)).makeOptionMandatory(),
    )
    .option(
      "--data <folder>",
      "where data and results are kept between runs",
      join(tmpdir(), "waybill-bench", "scale"),
    )
    .addOption(
      new Option("--steps <names...>", "which, of what is made or was made before")
        .choices(steps)
        .default(steps),
    )
    .addOption(new Option("--seconds <n>", "how long to report").argParser(whole(10, 3_600)).default(600))
    .addOption(
      new Option("--seed <n>", "how many builds to report, of which the multiple is made")
        .argParser(whole(20, 10_000))
        .default(1_000),
    )
    .option("--no-keep", "remove the data afterwards")
    .action((options: Options) => scale(options));
}
